#pragma once
// Factor rules of the op table, as Shardy numbers them: factors count up in the order they are
// made, and ties in propagation are broken by that number. Source: openxla/shardy,
// shardy/dialect/sdy/transforms/propagation/op_sharding_rule_registry.cc.

#include "ops/op.h"

namespace shard {

/// `([i, j],[i, j],[]) -> ([i, j])`: one factor per dim; scalars have none.
FactorRule pointwise_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                          const Attributes& attributes);
/// `([i, k],[k, j]) -> ([i, j]) red={k}`: batch, lhs free, rhs free, contracted.
FactorRule dot_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
/// `([i, j]) -> ([i]) red={j}`, for each way of combining.
FactorRule sum_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
FactorRule max_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
FactorRule min_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
FactorRule prod_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                     const Attributes& attributes);
/// `([j, i]) -> ([i, j])`.
FactorRule transpose_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                          const Attributes& attributes);
/// `([i, j]) -> ([i, k])` with j of size 1: an expanded dim has a factor on each side.
FactorRule broadcast_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                          const Attributes& attributes);

}  // namespace shard
