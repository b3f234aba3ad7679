// Derivatives of the further functions of one or two numbers.

#include <cmath>
#include <numbers>
#include <numeric>

#include "ops/composed.h"
#include "ops/derivatives.h"

namespace shard {
namespace {

/// The words of the formulas below: x, y = f(x) and the cotangent g of y.
struct FunctionWords {
  explicit FunctionWords(const DerivativeInput& input)
      : b(input.builder), x(input.operands[0]), y(input.results[0]), g(input.cotangents[0]) {}

  ValueId op(Op kind, ValueId a) const { return b.emit(kind, {a}); }
  ValueId times(ValueId a, ValueId c) const { return b.emit(Op::multiply, {a, c}); }
  ValueId over(ValueId a, ValueId c) const { return b.emit(Op::divide, {a, c}); }
  ValueId squared(ValueId a) const { return b.emit(Op::square, {a}); }
  ValueId scaled(ValueId a, double by) const {
    return b.emit(Op::scale, {a}, Attributes{{"value", by}});
  }
  ValueId shifted(ValueId a, double by) const {
    return b.emit(Op::shift, {a}, Attributes{{"value", by}});
  }

  Builder& b;
  ValueId x, y, g;
};

/// Summed over the dims over which a scalar operand was spread.
ValueId fitted_to(Builder& builder, ValueId cotangent, ValueId operand) {
  const int rank = builder.type(cotangent).rank();
  if (builder.type(operand).rank() == rank) return cotangent;
  std::vector<std::int64_t> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return reduced(builder, Op::reduce_sum, cotangent, std::move(all));
}

ValueId zeros_of(Builder& builder, ValueId like) {
  return scalar(builder, 0, builder.type(like).dtype);
}

}  // namespace

std::vector<ValueId> expm1_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.shifted(f.y, 1))};
}

std::vector<ValueId> log1p_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.over(f.g, f.shifted(f.x, 1))};
}

std::vector<ValueId> exp2_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.scaled(f.y, std::numbers::ln2))};
}

std::vector<ValueId> erf_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  const ValueId bell = f.op(Op::exp, f.op(Op::negate, f.squared(f.x)));
  return {f.times(f.g, f.scaled(bell, 2 * std::numbers::inv_sqrtpi))};
}

std::vector<ValueId> erfc_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  const ValueId bell = f.op(Op::exp, f.op(Op::negate, f.squared(f.x)));
  return {f.times(f.g, f.scaled(bell, -2 * std::numbers::inv_sqrtpi))};
}

std::vector<ValueId> erf_inv_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.scaled(f.op(Op::exp, f.squared(f.y)), 0.5 / std::numbers::inv_sqrtpi))};
}

std::vector<ValueId> lgamma_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  const ValueId slope = f.b.emit(Op::polygamma, {f.x}, Attributes{{"order", std::int64_t{0}}});
  return {f.times(f.g, slope)};
}

std::vector<ValueId> polygamma_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  const std::int64_t order = input.attributes.integer("order");
  return {f.times(f.g, f.b.emit(Op::polygamma, {f.x}, Attributes{{"order", order + 1}}))};
}

std::vector<ValueId> cbrt_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.over(f.scaled(f.g, 1.0 / 3), f.squared(f.y))};
}

std::vector<ValueId> tan_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.shifted(f.squared(f.y), 1))};
}

std::vector<ValueId> asin_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.op(Op::rsqrt, f.shifted(f.op(Op::negate, f.squared(f.x)), 1)))};
}

std::vector<ValueId> acos_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  const ValueId slope = f.op(Op::rsqrt, f.shifted(f.op(Op::negate, f.squared(f.x)), 1));
  return {f.op(Op::negate, f.times(f.g, slope))};
}

std::vector<ValueId> atan_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.over(f.g, f.shifted(f.squared(f.x), 1))};
}

std::vector<ValueId> sinh_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.op(Op::cosh, f.x))};
}

std::vector<ValueId> cosh_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.op(Op::sinh, f.x))};
}

std::vector<ValueId> asinh_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.times(f.g, f.op(Op::rsqrt, f.shifted(f.squared(f.x), 1)))};
}

std::vector<ValueId> acosh_derivative(const DerivativeInput& input) {
  // 1 / (sqrt(x - 1) sqrt(x + 1)): x^2 - 1 would lose digits near 1.
  const FunctionWords f(input);
  const ValueId below = f.op(Op::rsqrt, f.shifted(f.x, -1));
  return {f.times(f.g, f.times(below, f.op(Op::rsqrt, f.shifted(f.x, 1))))};
}

std::vector<ValueId> atanh_derivative(const DerivativeInput& input) {
  const FunctionWords f(input);
  return {f.over(f.g, f.shifted(f.op(Op::negate, f.squared(f.x)), 1))};
}

std::vector<ValueId> atan2_derivative(const DerivativeInput& input) {
  // Of atan2(y, x), here (x, z): (z, -x) / (x^2 + z^2).
  const FunctionWords f(input);
  const ValueId z = input.operands[1];
  const ValueId norm = f.b.emit(Op::add, {f.squared(f.x), f.squared(z)});
  const ValueId share = f.over(f.g, norm);
  std::vector<ValueId> out(2, ValueId::none);
  if (input.wants(0)) out[0] = fitted_to(f.b, f.times(share, z), f.x);
  if (input.wants(1)) out[1] = fitted_to(f.b, f.op(Op::negate, f.times(share, f.x)), z);
  return out;
}

std::vector<ValueId> remainder_derivative(const DerivativeInput& input) {
  // x - y trunc(x / y): the quotient's sign times the floor of its size is its trunc.
  const FunctionWords f(input);
  const ValueId y = input.operands[1];
  std::vector<ValueId> out(2, ValueId::none);
  if (input.wants(0)) out[0] = fitted_to(f.b, f.g, f.x);
  if (input.wants(1)) {
    const ValueId ratio = f.over(f.x, y);
    const ValueId cut = f.times(f.op(Op::sign, ratio), f.op(Op::floor, f.op(Op::abs, ratio)));
    out[1] = fitted_to(f.b, f.op(Op::negate, f.times(f.g, cut)), y);
  }
  return out;
}

std::vector<ValueId> select_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId condition = input.operands[0], g = input.cotangents[0];
  const ValueId zero = zeros_of(b, g);
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(1)) out[1] = fitted_to(b, selected(b, condition, g, zero), input.operands[1]);
  if (input.wants(2)) out[2] = fitted_to(b, selected(b, condition, zero, g), input.operands[2]);
  return out;
}

std::vector<ValueId> clamp_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId low = input.operands[0], x = input.operands[1], high = input.operands[2];
  const ValueId g = input.cotangents[0], zero = zeros_of(b, g);
  const auto where = [&](ValueId condition, ValueId operand) {
    return fitted_to(b, selected(b, condition, g, zero), operand);
  };
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) out[0] = where(b.emit(Op::gt, {low, x}), low);
  if (input.wants(1)) {
    const ValueId above = b.emit(Op::gt, {x, low}), below = b.emit(Op::lt, {x, high});
    out[1] = where(b.emit(Op::bitwise_and, {above, below}), x);
  }
  if (input.wants(2)) out[2] = where(b.emit(Op::lt, {high, x}), high);
  return out;
}

}  // namespace shard
