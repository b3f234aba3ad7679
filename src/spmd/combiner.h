#pragma once
// What XLA's combiner makes of a list of instructions, without the instructions: who needs whom and
// which collectives are alike is all it asks.

#include <span>
#include <vector>

#include "spmd/number_runs.h"

namespace shard::spmd {

/// Takes instructions in program order. A collective joins the first merged one that it may join:
/// same key, and no path between it and any member, counting a merged collective as one node.
class Combiner {
 public:
  /// `alone`: is never merged with another (`key` is not looked at).
  struct Collective {
    int key = 0;
    bool alone = false;
  };

  /// An instruction that needs the results of the earlier ones `needs` (numbers count the calls).
  /// Returns the merged collective it is in, numbered in order of their first members; -1 for what
  /// is no collective.
  int add(std::span<const int> needs, const Collective* collective);

  int merged_count() const { return static_cast<int>(before_.size()); }

 private:
  using Waits = std::vector<int>;  ///< merged collectives, sorted

  void note_waits(std::span<const int> needs);
  void keep_latest();
  NumberRuns closed(const Waits& waits) const;
  int place(const Collective& collective, const NumberRuns& before);
  int candidate(const std::vector<int>& candidates, const NumberRuns& before) const;
  void join(int merged, const NumberRuns& before);
  int new_waits(Waits waits);

  std::vector<Waits> pool_{Waits{}};          ///< what instructions wait for, each kind once
  std::vector<int> waits_of_;                 ///< by instruction: position in the pool
  std::vector<NumberRuns> before_;            ///< by merged collective: all it waits for
  std::vector<bool> has_followers_;           ///< by merged collective: in some `before_`
  std::vector<std::vector<int>> candidates_;  ///< by key: merged collectives in order
  // Of the instruction at hand; kept for their memory.
  Waits all_;     ///< what two of its operands wait for
  Waits latest_;  ///< the same without what that waits for
};

}  // namespace shard::spmd
