#include <numbers>

#include "ops/builder.h"
#include "ops/derivatives.h"

namespace shard {
namespace {

/// Names for what every one-operand derivative talks about, and its few words.
struct Unary {
  explicit Unary(const DerivativeInput& input)
      : b(input.builder), x(input.operands[0]), y(input.results[0]), g(input.cotangents[0]) {}

  ValueId op(Op kind, ValueId a) const { return b.emit(kind, {a}); }
  ValueId times(ValueId a, ValueId c) const { return b.emit(Op::multiply, {a, c}); }
  ValueId over(ValueId a, ValueId c) const { return b.emit(Op::divide, {a, c}); }
  ValueId scaled(ValueId a, double value) const {
    return b.emit(Op::scale, {a}, Attributes{{"value", value}});
  }
  ValueId shifted(ValueId a, double value) const {
    return b.emit(Op::shift, {a}, Attributes{{"value", value}});
  }
  /// 1 - a
  ValueId complement(ValueId a) const { return shifted(op(Op::negate, a), 1.0); }

  Builder& b;
  ValueId x, y, g;
};

}  // namespace

std::vector<ValueId> no_gradient(const DerivativeInput& input) {
  return std::vector<ValueId>(input.operands.size(), ValueId::none);
}

std::vector<ValueId> relu_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::relu_grad, {input.results[0], input.cotangents[0]})};
}

std::vector<ValueId> negate_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.op(Op::negate, u.g)};
}

std::vector<ValueId> abs_derivative(const DerivativeInput& input) {
  const Unary u(input);
  if (info(u.b.type(u.x).dtype).is_complex) return complex_magnitude_derivative(input);
  return {u.times(u.g, u.op(Op::sign, u.x))};
}

std::vector<ValueId> square_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.times(u.g, u.scaled(u.x, 2.0))};
}

std::vector<ValueId> sqrt_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.over(u.scaled(u.g, 0.5), u.y)};
}

std::vector<ValueId> rsqrt_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.times(u.g, u.scaled(u.over(u.y, u.x), -0.5))};
}

std::vector<ValueId> exp_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.times(u.g, u.y)};
}

std::vector<ValueId> log_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.over(u.g, u.x)};
}

std::vector<ValueId> tanh_derivative(const DerivativeInput& input) {
  // (g + g y)(1 - y) keeps digits near y = 1 that 1 - y^2 loses.
  const Unary u(input);
  return {u.times(u.b.emit(Op::add, {u.g, u.times(u.g, u.y)}), u.complement(u.y))};
}

std::vector<ValueId> sigmoid_derivative(const DerivativeInput& input) {
  // y (1 - y), where 1 - y = sigmoid(-x) keeps the digits that the difference loses near y = 1.
  const Unary u(input);
  const ValueId rest = u.op(Op::sigmoid, u.op(Op::negate, u.x));
  return {u.times(u.g, u.times(u.y, rest))};
}

std::vector<ValueId> silu_derivative(const DerivativeInput& input) {
  // y = x s(x):  y' = s + y (1 - s)
  const Unary u(input);
  const ValueId s = u.op(Op::sigmoid, u.x);
  return {u.times(u.g, u.b.emit(Op::add, {s, u.times(u.y, u.complement(s))}))};
}

std::vector<ValueId> gelu_derivative(const DerivativeInput& input) {
  // The tanh form: y = x/2 (1 + t), t = tanh(u), u = c (x + a x^3), so
  // y' = (1 + t)/2 + x/2 (1 - t^2) u',  u' = c (1 + 3 a x^2).
  const Unary u(input);
  const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double a = 0.044715;
  const ValueId square = u.op(Op::square, u.x);
  const ValueId inner = u.scaled(u.times(u.x, u.shifted(u.scaled(square, a), 1.0)), c);
  const ValueId t = u.op(Op::tanh, inner);
  const ValueId slope = u.shifted(u.scaled(square, 3 * a * c), c);
  const ValueId bend = u.times(u.complement(u.op(Op::square, t)), slope);
  const ValueId outer = u.scaled(u.shifted(t, 1.0), 0.5);
  return {u.times(u.g, u.b.emit(Op::add, {outer, u.scaled(u.times(u.x, bend), 0.5)}))};
}

std::vector<ValueId> sin_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.times(u.g, u.op(Op::cos, u.x))};
}

std::vector<ValueId> cos_derivative(const DerivativeInput& input) {
  const Unary u(input);
  return {u.op(Op::negate, u.times(u.g, u.op(Op::sin, u.x)))};
}

std::vector<ValueId> convert_derivative(const DerivativeInput& input) {
  const Unary u(input);
  const DType from = u.b.type(u.x).dtype;
  if (!is_inexact(from) || !is_inexact(u.b.type(u.y).dtype)) return {ValueId::none};
  return {u.b.emit(Op::convert, {u.g}, Attributes{{"dtype", std::string(info(from).name)}})};
}

std::vector<ValueId> scale_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::scale, {input.cotangents[0]}, input.attributes)};
}

std::vector<ValueId> shift_derivative(const DerivativeInput& input) {
  return {input.cotangents[0]};
}

}  // namespace shard
