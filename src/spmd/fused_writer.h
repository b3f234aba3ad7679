#pragma once
// Several instructions as one fused instruction.

#include <functional>
#include <span>
#include <vector>

#include "spmd/program.h"

namespace shard::spmd {

class FusedWriter {
 public:
  /// For instructions that name buffers below this number.
  explicit FusedWriter(std::size_t buffers) : numbers_(buffers, unknown), reads_(buffers, 0) {}

  /// There are so many by now.
  void know(std::size_t buffers) {
    if (buffers <= numbers_.size()) return;
    numbers_.resize(buffers, unknown);
    reads_.resize(buffers, 0);
  }

  /// The instruction that does what these do one after another. Its operands are what they read and
  /// none of them makes; its results are those of theirs that somebody else wants, which is asked
  /// with how many operands of these instructions name it. Node, phase and iteration are the last
  /// one's.
  Instruction write(std::span<const Instruction* const> steps,
                    const std::function<bool(BufferId id, int reads)>& is_wanted);

 private:
  static constexpr int unknown = -1;
  static constexpr int made_inside = -2;  ///< its number comes with the step that makes it

  int& number(BufferId id) { return numbers_[index_of(id)]; }
  void find_operands(std::span<const Instruction* const> steps);
  void add_step(const Instruction& instruction);
  void forget(std::span<const Instruction* const> steps);

  std::vector<int> numbers_;  ///< by buffer: of its value
  std::vector<int> reads_;    ///< by buffer: by the steps
  int values_ = 0;
  Instruction made_;
};

}  // namespace shard::spmd
