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
/// Of truth values, where `and` is the smallest and `or` the largest.
FactorRule and_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
FactorRule or_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                   const Attributes& attributes);

// Elements moved (factor_rules_structure.cpp).
/// `([ij]) -> ([i, j])`: the common factors of both shapes, in order; what one side has alone gets
/// a factor of its own.
FactorRule reshape_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                        const Attributes& attributes);
/// The operand's sizes; dims whose size changes are permutation factors.
FactorRule slice_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                      const Attributes& attributes);
FactorRule pad_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
/// The result's sizes; the concatenated dim must be whole or, with attribute `of_slices` (its
/// operands are slices of arrays), is a permutation factor.
FactorRule concatenate_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
/// Reversed dims are permutation factors.
FactorRule reverse_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                        const Attributes& attributes);
FactorRule ppermute_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                         const Attributes& attributes);
/// The operand's sizes; dims whose size changes must be whole and do not propagate.
FactorRule dynamic_slice_rule(std::span<const TensorType> operands,
                              std::span<const TensorType> results, const Attributes& attributes);
/// A dim that is updated in part has one factor on array and result and another on the update,
/// which must be whole unless attribute `at_constants` is there (all starts are constants).
FactorRule dynamic_update_slice_rule(std::span<const TensorType> operands,
                                     std::span<const TensorType> results,
                                     const Attributes& attributes);
/// The operand's sizes; transformed dims must be whole, and one that is halved does not propagate
/// (complex_ops.cpp).
FactorRule fft_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes);
FactorRule top_k_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                      const Attributes& attributes);

// Elements looked up, ordered, run along (factor_rules_index.cpp).
/// `([l, k],[i, j]) -> ([i, j, k]) red={l}` for rows of a table: the result's dims, then the dims
/// that slices have not, then that of the index vector.
FactorRule gather_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                       const Attributes& attributes);
/// The same from the dims of the updates; those of the indices are reduction factors.
FactorRule scatter_add_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
FactorRule scatter_mul_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
FactorRule scatter_max_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
FactorRule scatter_min_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
/// Which update stays cannot be combined afterwards: those factors must be whole.
FactorRule scatter_set_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
FactorRule arg_extremum_rule(std::span<const TensorType> operands,
                             std::span<const TensorType> results, const Attributes& attributes);
/// The dim that is run along is a permutation factor.
FactorRule cumulative_rule(std::span<const TensorType> operands,
                           std::span<const TensorType> results, const Attributes& attributes);
/// The sorted dim must be whole.
FactorRule sort_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                     const Attributes& attributes);

// Windows (factor_rules_window.cpp).
/// `([i, jl, m],[l, m, k]) -> ([i, j, k]) red={l,m} perm={j}`: batch groups, batch, per spatial dim
/// the windows and what lies in one, feature groups, input features, output features.
FactorRule convolution_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
/// Dims with a window, a stride or padding are permutation factors.
FactorRule reduce_window_rule(std::span<const TensorType> operands,
                              std::span<const TensorType> results, const Attributes& attributes);
FactorRule select_and_scatter_add_rule(std::span<const TensorType> operands,
                                       std::span<const TensorType> results,
                                       const Attributes& attributes);
/// `([]) -> ([i, j])`.
FactorRule random_bits_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);

}  // namespace shard
