#pragma once
// Who writes over whom: results in place over operands that die, loop carries and donated outputs
// at the place they must end up in.

#include <vector>

#include "spmd/program.h"

namespace shard::spmd {

/// Result `result` of an instruction may be written over its operand `operand` (positions).
struct ReusePair {
  int result = 0;
  int operand = 0;

  friend bool operator==(const ReusePair&, const ReusePair&) = default;
};

/// The pairs an instruction allows when the operand dies there: equal local types and an op whose
/// row says so (position by position when it has several results), an all_reduce, and a loop's
/// carries (unless the loop reads the operand otherwise too).
std::vector<ReusePair> reuse_pairs(const Program& program, const Instruction& instruction);

/// Sets `alias_of` and the views of stacked outputs in the whole program. Where a value cannot be
/// made at the place it must have (a donated output while its input is still read, a carry that is
/// another carry's parameter, ...) a copy is added: a `convert` to the same dtype.
void share_places(Program& program);

/// The buffer at the start of the chain of `alias_of`.
BufferId root_of(const Program& program, BufferId id);

/// That of every buffer; each chain is walked once.
std::vector<BufferId> roots_of(const Program& program);

}  // namespace shard::spmd
