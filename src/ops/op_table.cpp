// The rows and nothing else. `flops` are per point of the factor space: one per arithmetic step or
// transcendental function of the op's formula.

#include "ops/derivatives.h"
#include "ops/factor_rules.h"
#include "ops/op_rows.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

// What a group of rows has in common; the rest of a row is its own.

constexpr OpDef elementwise(Op op, std::string_view name, int operands, double flops,
                            ShapeRule shape, Derivative derivative, std::string_view help) {
  return {op,   name,  operands, PassClass::pass_through, true,
          true, flops, shape,    pointwise_rule,          derivative,
          help};
}

constexpr OpDef reduction(Op op, std::string_view name, FactorRuleFunction rule,
                          Derivative derivative, std::string_view help) {
  return {op, name, 1, PassClass::other, false, false, 1, reduce_shape, rule, derivative, help};
}

constexpr OpRows rows = {{
    {Op::dot, "dot", 2, PassClass::other, false, false, 2, dot_shape, dot_rule, dot_derivative,
     "product of two arrays, summed over paired dims (dot_general)"},

    elementwise(Op::relu, "relu", 1, 1, elementwise_shape, relu_derivative, "max(x, 0)"),
    elementwise(Op::negate, "negate", 1, 1, elementwise_shape, negate_derivative, "-x"),
    elementwise(Op::abs, "abs", 1, 1, elementwise_shape, abs_derivative, "absolute value"),
    elementwise(Op::square, "square", 1, 1, elementwise_shape, square_derivative, "x * x"),
    elementwise(Op::sqrt, "sqrt", 1, 1, float_elementwise_shape, sqrt_derivative, "square root"),
    elementwise(Op::rsqrt, "rsqrt", 1, 2, float_elementwise_shape, rsqrt_derivative, "1 / sqrt(x)"),
    elementwise(Op::exp, "exp", 1, 1, float_elementwise_shape, exp_derivative, "e to the x"),
    elementwise(Op::log, "log", 1, 1, float_elementwise_shape, log_derivative, "natural logarithm"),
    elementwise(Op::tanh, "tanh", 1, 1, float_elementwise_shape, tanh_derivative,
                "hyperbolic tangent"),
    elementwise(Op::sigmoid, "sigmoid", 1, 4, float_elementwise_shape, sigmoid_derivative,
                "1 / (1 + exp(-x))"),
    elementwise(Op::silu, "silu", 1, 5, float_elementwise_shape, silu_derivative, "x * sigmoid(x)"),
    elementwise(Op::gelu, "gelu", 1, 9, float_elementwise_shape, gelu_derivative,
                "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))"),
    elementwise(Op::sin, "sin", 1, 1, float_elementwise_shape, sin_derivative, "sine, radians"),
    elementwise(Op::cos, "cos", 1, 1, float_elementwise_shape, cos_derivative, "cosine, radians"),
    elementwise(Op::sign, "sign", 1, 1, elementwise_shape, no_gradient, "-1, 0 or 1; nan stays"),
    elementwise(Op::convert, "convert", 1, 0, convert_shape, convert_derivative,
                "to another dtype: round to even; float to int cuts, saturates, nan is 0"),

    elementwise(Op::add, "add", 2, 1, elementwise_shape, add_derivative, "x + y"),
    elementwise(Op::subtract, "subtract", 2, 1, elementwise_shape, subtract_derivative, "x - y"),
    elementwise(Op::multiply, "multiply", 2, 1, elementwise_shape, multiply_derivative, "x * y"),
    elementwise(Op::divide, "divide", 2, 1, elementwise_shape, divide_derivative, "x / y"),
    elementwise(Op::maximum, "maximum", 2, 1, elementwise_shape, extremum_derivative,
                "the larger of x and y; nan wins"),
    elementwise(Op::minimum, "minimum", 2, 1, elementwise_shape, extremum_derivative,
                "the smaller of x and y; nan wins"),
    elementwise(Op::power, "power", 2, 1, float_elementwise_shape, power_derivative, "x to the y"),
    elementwise(Op::relu_grad, "relu_grad", 2, 1, elementwise_shape, relu_grad_derivative,
                "(y, g): g where y > 0, else 0"),
    elementwise(Op::equal_mask, "equal_mask", 2, 1, elementwise_shape, no_gradient,
                "1 where x equals y, else 0"),

    elementwise(Op::scale, "scale", 1, 1, value_shape, scale_derivative, "x * value"),
    elementwise(Op::shift, "shift", 1, 1, value_shape, shift_derivative, "x + value"),

    reduction(Op::reduce_sum, "reduce_sum", sum_rule, reduce_sum_derivative, "sum over dims"),
    reduction(Op::reduce_max, "reduce_max", max_rule, reduce_extremum_derivative,
              "largest over dims; nan wins"),
    reduction(Op::reduce_min, "reduce_min", min_rule, reduce_extremum_derivative,
              "smallest over dims; nan wins"),
    reduction(Op::reduce_prod, "reduce_prod", prod_rule, reduce_prod_derivative,
              "product over dims"),

    elementwise(Op::constrain, "constrain", 1, 0, same_shape, constrain_derivative,
                "the same array, placed as the spec says (with_sharding_constraint)"),
    {Op::transpose, "transpose", 1, PassClass::pass_through, false, false, 0, transpose_shape,
     transpose_rule, transpose_derivative, "dims in another order"},
    {Op::broadcast, "broadcast", 1, PassClass::broadcast_like, false, false, 0, broadcast_shape,
     broadcast_rule, broadcast_derivative, "repeated along new dims or dims of size 1"},
    {Op::constant, "constant", 0, PassClass::other, false, false, 0, constant_shape, nullptr,
     nullptr, "an array whose elements all equal value"},

    elementwise(Op::sgd_update, "sgd_update", 2, 2, sgd_shape, nullptr,
                "parameter after a step of gradient descent"),
    elementwise(Op::momentum_update, "momentum_update", 3, 4, momentum_shape, nullptr,
                "parameter and trace after a step of gradient descent with momentum"),
    elementwise(Op::adam_update, "adam_update", 5, 18, adam_shape, nullptr,
                "parameter, mu and nu after a step of adam or adamw; last operand: the count"),

    {Op::repeat, "repeat", -1, PassClass::pass_through, false, false, 0, nullptr, nullptr, nullptr,
     "a body run several times over carried values and slices of stacked arrays"},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "the table lists every Op once, in enum order");

}  // namespace

const OpRows& op_rows() { return rows; }

}  // namespace shard
