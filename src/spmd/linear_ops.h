#pragma once
// Ops through which a sum may pass: what they make of the parts adds up to what they make of the
// sum.

#include <span>

#include "ops/op.h"

namespace shard::spmd {

/// Operands that may be sums at the same time, as a set of bits; all others must be whole.
using SumOperands = unsigned;
inline constexpr SumOperands every_operand = ~0U;

/// The sets for an op, each on its own; none for an op that is not linear in any operand.
std::span<const SumOperands> linear_operands(Op op);

inline bool has_operand(SumOperands set, std::size_t operand) {
  return set == every_operand || (operand < 32 && (set >> operand & 1U) != 0);
}

}  // namespace shard::spmd
