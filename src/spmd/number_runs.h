#pragma once
// A set of whole numbers as runs: small when the numbers lie together, whatever their count.

#include <utility>
#include <vector>

namespace shard::spmd {

class NumberRuns {
 public:
  bool has(int number) const {
    const bool is_between =
        !runs_.empty() && runs_.front().first <= number && number < runs_.back().second;
    return is_between && next_absent(number) != number;
  }
  /// The least number >= `from` that is not in the set.
  int next_absent(int from) const;
  /// Both say whether anything was new.
  bool add(int number) { return add_run(number, number + 1); }
  bool add(const NumberRuns& other);
  bool empty() const { return runs_.empty(); }

 private:
  using Run = std::pair<int, int>;  ///< first, one past the last

  bool add_run(int first, int end);

  std::vector<Run> runs_;  ///< in order; they neither meet nor touch
};

}  // namespace shard::spmd
