#pragma once
// The figures of a program that is written out, from programs in which an iteration stands for
// many.
//
// A program with 1,000 equal layers is the one with 7 layers, the middle one 994 times. Where
// things stand in it - positions, moments, numbers of buffers - grows by the same step from layer
// to layer and with every layer more. The steps are seen in a second program, with the middle layer
// twice. From them the lives of all 1,000 layers' buffers and the order and needs of all
// instructions follow; these are packed and merged as those of any program are, which is quick,
// because nothing has to be sharded, lowered or named again.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spmd/partition.h"
#include "spmd/program.h"

namespace shard {

/// A function that was planned with folded repeats.
struct FoldedFunction {
  const Graph& graph;
  const Program& program;
};

/// The program written out. Each figure is worked out when it is asked for; the programs and graphs
/// that it was made from must stay as they are until then.
class Unfolded {
 public:
  MemoryPlan memory() const;  ///< positions are those of the folded program; with instances
  /// Of the folded program, with ranges where they belong.
  std::vector<std::string> buffer_names() const;

 private:
  struct Parts;
  explicit Unfolded(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend std::optional<Unfolded> unfold(const FoldedFunction& folded,
                                        std::span<const FoldedFunction> widened,
                                        std::span<const Iteration> folds);

  std::shared_ptr<const Parts> parts_;
};

/// `widened` has, for each of the iterations `folds` that stand for several, the function with that
/// one written twice (`BuildOptions`). Nothing when the programs do not continue evenly: equal
/// iterations with other ops, collectives, types or distances than their neighbours'.
std::optional<Unfolded> unfold(const FoldedFunction& folded,
                               std::span<const FoldedFunction> widened,
                               std::span<const Iteration> folds);

/// The merged collectives of the program written out, for which only instructions have to go on
/// evenly.
std::optional<std::vector<MergeCount>> merged_unfolded(const FoldedFunction& folded,
                                                       std::span<const FoldedFunction> widened,
                                                       std::span<const Iteration> folds);

}  // namespace shard
