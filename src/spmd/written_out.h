#pragma once
// The skeleton of a program that is written out: the order of its instructions, what each needs,
// and how long its buffers live. Things are named by what stands for them in the folded program.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spmd/course.h"
#include "spmd/fold_facts.h"
#include "spmd/packing.h"

namespace shard::spmd {

struct LongStep {
  Line begin;  ///< moments
  Line end;
  std::vector<Line> needs;  ///< positions of the instructions whose results it reads
};

struct LongBuffer {
  std::string name;  ///< with a range as long as the iteration's
  Line place_first;  ///< moments of its place's life
  Line place_last;
  Line held_first;  ///< moments at which it is the one that has the place
  Line held_last;
  Bytes bytes;  ///< of one of them
};

struct WrittenOut {
  const FoldFacts* folded = nullptr;
  std::vector<LongStep> steps;         ///< by thing; those in loops are left empty
  std::vector<LongBuffer> buffers;     ///< by thing
  std::vector<Instance> step_order;    ///< the main body
  std::vector<Instance> buffer_order;  ///< inputs in any order, then by number
  int end = 0;                         ///< the last moment

  Life place(const Instance& buffer) const;
  Life held(const Instance& buffer) const;
};

/// `facts` are those of the folded program and of the widened ones; they must stay while the result
/// is used. Nothing when something does not go on evenly.
std::optional<WrittenOut> write_out(std::span<const FoldFacts> facts,
                                    std::span<const Iteration> folds);

/// The instructions alone; nothing is said about buffers, however they go on.
std::optional<WrittenOut> write_out_steps(std::span<const FoldFacts> facts,
                                          std::span<const Iteration> folds);

}  // namespace shard::spmd
