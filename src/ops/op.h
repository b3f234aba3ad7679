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
#include "ops/local_form.h"

namespace shard {

enum class Op : std::uint8_t {
  // contraction
  dot,           ///< attributes lhs_batch, rhs_batch, lhs_contract, rhs_contract (dim positions)
  ragged_dot,    ///< (x[m,k], matrices[g,k,n], counts[g]): rows by the matrix of their group
  ragged_outer,  ///< (x[m,k], y[m,n], counts[g]) with attribute groups: per group, to [g,k,n]
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
  // elementwise, further functions of real numbers
  expm1,
  log1p,
  exp2,
  erf,
  erfc,
  erf_inv,
  lgamma,
  polygamma,  ///< attribute order: 0 is digamma
  cbrt,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  floor,
  ceil,
  round,       ///< to even from the middle
  round_away,  ///< away from zero from the middle
  remainder,   ///< (x, y): of the division cut towards zero, so it has x's sign
  atan2,       ///< (y, x)
  // elementwise, truth values and bits
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  is_finite,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_not,
  shift_left,
  shift_right_arithmetic,
  shift_right_logical,
  population_count,
  count_leading_zeros,
  select,                ///< (condition, on_true, on_false)
  clamp,                 ///< (low, x, high)
  reduce_precision,      ///< attributes exponent_bits, mantissa_bits
  bitcast,               ///< attribute dtype: the same bits as another dtype of that width
  optimization_barrier,  ///< the same value, which no pass moves across
  dropout,  ///< (x, seed) with attributes rate, stream, counts: x / (1 - rate), or 0 by chance
  // elementwise, complex numbers
  make_complex,  ///< (x, y): x + y i
  real,
  imag,
  conjugate,
  // reductions, attribute dims
  reduce_sum,
  reduce_max,
  reduce_min,
  reduce_prod,
  reduce_and,
  reduce_or,
  argmax,  ///< attribute dim: i32 positions of the first largest
  argmin,
  // along a dim, attributes dim and reverse (0 or 1: from the end)
  cumsum,
  cumprod,
  cummax,
  cummin,
  cumlogsumexp,
  linear_recurrence,  ///< (a, b): h_t = a_t h_(t-1) + b_t, the first is b
  sort,   ///< attributes dim, keys: all operands by the first `keys` of them; stable, NaN last
  top_k,  ///< attribute k: (values, i32 positions) of the largest along the last dim
  // windows, attributes as `Windows` and `ConvolutionDims` have them
  convolution,  ///< (x, kernel)
  reduce_window_sum,
  reduce_window_max,
  reduce_window_min,
  select_and_scatter_add,  ///< (x, source): to the first extremum of each window (`largest`: 0 or
                           ///< 1)
  fft,  ///< attributes kind (fft, ifft, rfft, irfft) and lengths of the trailing dims transformed
  // structure
  constrain,      ///< attribute placement: index into Graph::placements
  stop_gradient,  ///< the same array, a constant to derivatives; graphs keep it until then
  transpose,      ///< attribute order
  broadcast,      ///< broadcast_in_dim: attributes shape, dims (result dim of each operand dim)
  constant,       ///< attributes shape, value, dtype: every element equals value
  iota,           ///< attributes shape, dim, dtype: every element is its position along dim
  random_bits,    ///< (seed) with attributes shape, stream, counts: u32 by the place in `counts`
  reshape,        ///< attribute shape
  slice,          ///< attributes start, limit, stride: a list each, an entry per dim
  concatenate,    ///< attribute dim; any number of operands
  pad,            ///< (x, value) with attributes low, high, interior; low and high may be < 0
  reverse,        ///< attribute dims
  ppermute,       ///< attributes dim, source: place i of dim gets place source[i], -1: zeros
  ragged_all_to_all,     ///< attribute dims: rows exchanged as the data say; see ragged_exchange.h
  dynamic_slice,         ///< (x, start of each dim...) with attribute sizes; starts are clamped
  dynamic_update_slice,  ///< (x, update, start of each dim...); starts are clamped
  // lookups, attributes as IndexDims has them and mode ("clip": indices are clamped; "fill": what
  // is nowhere is `fill`, or dropped)
  gather,       ///< (x, indices) with attribute slice_sizes
  scatter_add,  ///< (x, indices, updates)
  scatter_set,
  scatter_max,
  scatter_min,
  scatter_mul,
  // optimizer updates, elementwise over the parameter; formulas in ops/update_ops.h
  sgd_update,       ///< (param, grad) -> (param)
  momentum_update,  ///< (param, trace, grad) -> (param, trace)
  adam_update,      ///< (param, mu, nu, grad, count) -> (param, mu, nu)
  custom_call,      ///< code that is not ours, by the factors it declares (custom_call.h)
  // regions
  repeat,  ///< a loop over a body region; see Graph
  count_,
};

/// How propagation schedules an op (spec: op priorities).
enum class PassClass {
  pass_through,    ///< elementwise, transpose, reshape, data flow: both directions first
  broadcast_like,  ///< backward only until the end
  slice_like,      ///< dynamic slices: forward first
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
using FlopsRule = double (*)(std::span<const TensorType> operands,
                             std::span<const TensorType> results, const Attributes& attributes);
/// One cotangent per operand, `ValueId::none` for "no gradient"; none at all where these attributes
/// leave the derivative unknown.
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
  LocalForm local_form = nullptr;  ///< nullptr: on a device's parts the attributes are the same
  bool derives_constants = false;  ///< of constants it makes one, as elementwise ops do
  FlopsRule flops = nullptr;       ///< nullptr: `flops_per_point` for every point
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
