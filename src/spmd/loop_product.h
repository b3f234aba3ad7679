#pragma once
// How a product takes part in a loop over rows (see spmd/fused_form.h).
//
// Attention over [b, s, e] queries and [b, t, e] keys has three kinds of products. The scores
// [b, s, t] are points: a row [t] of them for each row [e] of the queries. The mixed values
// [b, s, e] are sums over a row: what a row of weights gives of the values [b, t, e]. The gradients
// of the keys and values [b, t, e] are sums over the rows: each row adds its share, so they are
// whole when the last row of a batch element is done. The batch dims are the loop's groups.

#include <optional>
#include <span>

#include "base/tensor_type.h"
#include "ops/attributes.h"

namespace shard {

enum class LoopProductKind {
  points,      ///< of two operands from outside: the numbers of the points
  row_sums,    ///< points times an operand from outside, summed over the points of a row
  rows_summed  ///< points and an operand from outside, summed over the rows of a group
};

struct LoopProduct {
  LoopProductKind kind = LoopProductKind::points;
  int points_operand = -1;  ///< which operand has the points; -1 for `points`
  Shape shape;              ///< of the points
  int row_dims = 0;         ///< leading dims that number the rows
  int group_dims = 0;       ///< leading dims, of these, that number the groups
};

/// The part of a `dot` whose dims lie so that each group, row and point is a stretch of the points'
/// array; nothing for others. `inside` says by operand that a step of the same loop makes it.
std::optional<LoopProduct> product_in_loop(const Attributes& attributes,
                                           std::span<const TensorType> operands,
                                           const TensorType& result, std::span<const char> inside);

}  // namespace shard
