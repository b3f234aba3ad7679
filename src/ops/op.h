#pragma once
// The op table: what an op *is*, true on any machine. One row each; stages read rows, no stage has
// a `switch` over ops. Kernels are a second table in `exec` with the same order. To add an op: one
// enumerator and one row here, one kernel row there.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/tensor_type.h"
#include "ops/attributes.h"
#include "ops/factors.h"

namespace shard {

enum class Op : std::uint8_t {
  // contraction
  dot,  ///< attributes lhs_batch, rhs_batch, lhs_contract, rhs_contract (dim positions)
  // elementwise, one operand
  relu,
  negate,
  abs,
  square,
  sqrt,
  rsqrt,
  exp,
  log,
  tanh,
  sigmoid,
  silu,
  gelu,
  sin,
  cos,
  sign,
  convert,
  // elementwise, two operands
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  relu_grad,   ///< (y, g): g where y > 0, else 0
  equal_mask,  ///< (a, b): 1 where a == b, else 0, in their dtype
  // elementwise with attributes
  scale,  ///< attribute value: x * value
  shift,  ///< attribute value: x + value
  // reductions, attribute dims
  reduce_sum,
  reduce_max,
  reduce_min,
  reduce_prod,
  // structure
  constrain,  ///< attribute placement: index into Graph::placements
  transpose,  ///< attribute order
  broadcast,  ///< broadcast_in_dim: attributes shape, dims (result dim of each operand dim)
  constant,   ///< attributes shape, value, dtype: every element equals value
  // optimizer updates, elementwise over the parameter; formulas in ops/update_ops.h
  sgd_update,       ///< (param, grad) -> (param)
  momentum_update,  ///< (param, trace, grad) -> (param, trace)
  adam_update,      ///< (param, mu, nu, grad, count) -> (param, mu, nu)
  // regions
  repeat,  ///< a loop over a body region; see Graph
  count_,
};

/// How propagation schedules an op (spec: op priorities).
enum class PassClass {
  pass_through,    ///< elementwise, transpose, reshape, data flow: both directions first
  broadcast_like,  ///< backward only until the end
  other,
};

class Builder;

/// What a derivative is told: the op's own operands and results and the cotangent of each result
/// (`ValueId::none` where a result's cotangent is zero). `wanted` says per operand whether its
/// cotangent is asked for (empty: all are); a derivative need not emit the others.
struct DerivativeInput {
  Builder& builder;
  const Attributes& attributes;
  std::span<const ValueId> operands;
  std::span<const ValueId> results;
  std::span<const ValueId> cotangents;
  std::span<const char> wanted;

  bool wants(std::size_t operand) const { return wanted.empty() || wanted[operand] != 0; }
};

/// Types of the results, or a sentence that says what does not fit ("contracted sizes differ: 8 and
/// 4").
using ShapeResult = std::variant<std::vector<TensorType>, std::string>;

using ShapeRule = ShapeResult (*)(std::span<const TensorType> operands,
                                  const Attributes& attributes);
using FactorRuleFunction = FactorRule (*)(std::span<const TensorType> operands,
                                          std::span<const TensorType> results,
                                          const Attributes& attributes);
/// One cotangent per operand, `ValueId::none` for "no gradient".
using Derivative = std::vector<ValueId> (*)(const DerivativeInput& input);

struct OpDef {
  Op op;
  std::string_view name;
  int operand_count;  ///< -1: any number
  PassClass pass_class;
  bool is_elementwise;     ///< all operands and results share every dim (scalars excepted)
  bool may_reuse_operand;  ///< a result may be written over an operand of the same local type
  double flops_per_point;  ///< per point of the factor space
  ShapeRule shape_rule;    ///< nullptr: the region decides (repeat)
  FactorRuleFunction factor_rule;  ///< nullptr: no rule (constant, repeat)
  Derivative derivative;           ///< nullptr: not differentiable, its operands get no gradient
  std::string_view help;           ///< one line, for `describe` and the schema
};

/// All rows, in enum order.
std::span<const OpDef> op_table();
const OpDef& def(Op op);
std::optional<Op> op_named(std::string_view name);

/// The result types by the op's shape rule; `InternalError` when the rule refuses them.
std::vector<TensorType> result_types(Op op, std::span<const TensorType> operands,
                                     const Attributes& attributes);

/// Floating-point operations of one execution on these (global or local) types.
/// Zero for ops without a factor rule; a `repeat`'s are those of its body.
double flops_of(Op op, std::span<const TensorType> operands, std::span<const TensorType> results,
                const Attributes& attributes);

/// The rule on these types; every dim of every tensor has at least one factor.
FactorRule factor_rule(Op op, std::span<const TensorType> operands,
                       std::span<const TensorType> results, const Attributes& attributes);

}  // namespace shard
