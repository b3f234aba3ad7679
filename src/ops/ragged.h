#pragma once
// Grouped products (JAX's ragged_dot): rows that lie sorted by group, `counts[g]` of them for group
// g, each multiplied by its group's matrix. Rows behind all groups give zeros.
//
//   ragged_dot    x[m, k], matrices[g, k, n], counts[g]  to [m, n]
//   ragged_outer  x[m, k], y[m, n], counts[g]            to [g, k, n]: a sum over each group's rows
//
// Any dim may be split: a device that has some of the rows knows where they begin, and one that has
// some of the matrices multiplies the rows of their groups and leaves zeros to be summed (experts
// over devices).

#include "ops/local_form.h"
#include "ops/op.h"

namespace shard {

/// Keys of the parts that the local forms give (LocalParts).
inline constexpr std::int64_t ragged_rows = 0, ragged_groups = 1;

ShapeResult ragged_dot_shape(std::span<const TensorType> operands, const Attributes& attributes);
/// Attribute groups: how many there are.
ShapeResult ragged_outer_shape(std::span<const TensorType> operands, const Attributes& attributes);
FactorRule ragged_dot_rule(std::span<const TensorType> operands,
                           std::span<const TensorType> results, const Attributes& attributes);
FactorRule ragged_outer_rule(std::span<const TensorType> operands,
                             std::span<const TensorType> results, const Attributes& attributes);
/// Every row is multiplied once; split groups are taken to have equally many.
double ragged_dot_flops(std::span<const TensorType> operands, std::span<const TensorType> results,
                        const Attributes& attributes);
double ragged_outer_flops(std::span<const TensorType> operands, std::span<const TensorType> results,
                          const Attributes& attributes);
std::vector<ValueId> ragged_dot_derivative(const DerivativeInput& input);
std::vector<ValueId> ragged_outer_derivative(const DerivativeInput& input);
/// With the parts of the rows and of the groups.
Attributes ragged_dot_form(const LocalSite& site);
Attributes ragged_outer_form(const LocalSite& site);

}  // namespace shard
