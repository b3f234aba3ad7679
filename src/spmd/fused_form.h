#pragma once
// What a fused instruction works on.
//
// Its steps run together over the points of one shape, a few points at a time. With reductions
// among them the leading dims of that shape are rows: a step then works on all points of some rows,
// or on one number for each of them. The guide's softmax over [b, s] attention scores of s keys:
//   3 = reduce_max(0) rows, 4 = broadcast(3) all, 5 = subtract(0, 4), 6 = exp(5), 7 = reduce_sum(6)
//   rows, 8 = broadcast(7), 9 = divide(6, 8)
// reads the scores once and writes the weights once; nothing else is ever an array.
//
// Products may be steps too, if they make the points or sum them up (see spmd/loop_product.h): with
// the products around it, that softmax is attention whose scores are never an array. Their batch
// dims come first among the dims of the rows: the loop's groups.

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "spmd/program.h"

namespace shard {

/// How an op may take part in a fused loop.
enum class FusionRole {
  none,
  pointwise,  ///< results at a point from operands at that point, and from scalars
  spread,     ///< broadcast: of an operand from outside in any way, of numbers of rows over theirs
  fill,       ///< constant
  position,   ///< iota
  by_row,     ///< a reduction over all dims behind the rows
  product,    ///< a `dot` that makes points, or sums them up in a result that no step may read
};
FusionRole fusion_role(Op op);

struct FusedForm {
  Shape shape;                     ///< of the points
  int row_dims = -1;               ///< leading dims that number the rows; -1: nothing is by row
  int group_dims = -1;             ///< leading dims that number the groups; -1: no products
  std::vector<TensorType> values;  ///< the operands' and the steps' results'
  std::vector<int> first_value;    ///< by step: the number of its first result
  std::vector<int> sums;           ///< values of products that are no points: results of the loop

  std::int64_t rows() const;     ///< 1 where nothing is by row
  std::int64_t groups() const;   ///< 1 where there are no products
  std::int64_t columns() const;  ///< points of a row
  /// A result of this shape has a number per row.
  bool is_by_row(const Shape& result) const;
};

/// The form, or a sentence why these steps are no loop ("step 2 (add): its operands are of other
/// shapes than its result").
using FusedFormResult = std::variant<FusedForm, std::string>;
FusedFormResult fused_form(std::span<const TensorType> operands, std::span<const FusedStep> steps);

/// `fused adam_update`: what its last step is. With products `fused attention`, or `fused attention
/// gradient` where one sums over the rows.
std::string fused_name(const Instruction& instruction);

namespace spmd {

/// The shapes that steps work on, as far as they are known.
struct FusedSpace {
  Shape shape;
  int row_dims = -1;
  int group_dims = -1;

  friend bool operator==(const FusedSpace&, const FusedSpace&) = default;
};

/// What one op with these shapes asks of the loop it is in; nothing when it cannot be in one.
/// `inside` says by operand that a step of the same loop makes it.
std::optional<FusedSpace> space_of(Op op, const Attributes& attributes,
                                   std::span<const TensorType> operands, const TensorType& result,
                                   std::span<const char> inside);

/// The space of both, where one loop can be over both.
std::optional<FusedSpace> joined(const FusedSpace& a, const FusedSpace& b);

}  // namespace spmd
}  // namespace shard
