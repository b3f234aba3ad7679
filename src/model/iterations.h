#pragma once
// Which thing of one iteration corresponds to which of another: the third value of iteration 5 to
// the third of iteration 6. For graphs in which iterations stand for several (BuildOptions::fold).

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/graph.h"

namespace shard {

/// By value: its producer's iteration, an input's own, a region parameter's that of its loop.
std::vector<Iteration> iterations_of_values(const Graph& graph);

/// Of one value; inputs are found at once in graphs that are numbered in reading order.
Iteration iteration_of(const Graph& graph, ValueId value);

/// The value of `iteration` that corresponds to `value` in its own; none when there is none.
ValueId counterpart(const Graph& graph, ValueId value, const Iteration& iteration);

/// A list of things (nodes, values, buffers), each of which belongs to an iteration or to none.
/// Within an iteration things are told apart by their order in the list.
class ByIteration {
 public:
  explicit ByIteration(std::vector<Iteration> of_things);

  std::size_t size() const { return of_things_.size(); }
  const Iteration& iteration(std::size_t thing) const { return of_things_[thing]; }
  std::size_t ordinal(std::size_t thing) const { return ordinals_[thing]; }
  /// The place of the thing's iteration among those of its repeat that are there.
  int rank(std::size_t thing) const;
  /// How many things belong to the iteration that begins at `first`.
  std::size_t count(int repeat, std::int64_t first) const;
  std::optional<std::size_t> find(int repeat, std::int64_t first, std::size_t ordinal) const;

 private:
  std::vector<Iteration> of_things_;
  std::vector<std::size_t> ordinals_;
  std::map<std::pair<int, std::int64_t>, std::vector<std::size_t>> groups_;
};

/// Where one thing of a folded list is found again.
struct Counterparts {
  std::vector<std::size_t> widened;  ///< by widened list: the same thing
  // Of things in an iteration that stands for several:
  int stands_for = -1;         ///< position of that iteration's repeat among the widened lists
  std::size_t before = 0;      ///< in the folded list, one iteration earlier
  std::size_t after = 0;       ///< one later
  std::size_t twin = 0;        ///< in the widened list of its repeat: the second of the two
  std::int64_t instances = 1;  ///< how many things it stands for
};

/// Counterparts of everything in `folded`. `widened` has, for each repeat that is folded, the list
/// made with that repeat widened; `folds` their iterations in the same order. Nothing when some
/// iterations have more things than their neighbours, or when anything else has no counterpart.
std::optional<std::vector<Counterparts>> find_counterparts(const ByIteration& folded,
                                                           std::span<const ByIteration> widened,
                                                           std::span<const Iteration> folds);

}  // namespace shard
