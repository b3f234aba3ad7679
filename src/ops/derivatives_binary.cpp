#include <numeric>

#include "ops/builder.h"
#include "ops/derivatives.h"

namespace shard {
namespace {

/// Names for what every two-operand derivative talks about, and its few words.
struct Binary {
  explicit Binary(const DerivativeInput& given)
      : input(given),
        b(given.builder),
        x(given.operands[0]),
        y(given.operands[1]),
        z(given.results[0]),
        g(given.cotangents[0]) {}

  ValueId negated(ValueId a) const { return b.emit(Op::negate, {a}); }
  ValueId times(ValueId a, ValueId c) const { return b.emit(Op::multiply, {a, c}); }
  ValueId over(ValueId a, ValueId c) const { return b.emit(Op::divide, {a, c}); }
  ValueId plus(ValueId a, ValueId c) const { return b.emit(Op::add, {a, c}); }
  ValueId mask(ValueId a, ValueId c) const { return b.emit(Op::equal_mask, {a, c}); }
  ValueId shifted(ValueId a, double value) const {
    return b.emit(Op::shift, {a}, Attributes{{"value", value}});
  }
  /// 1 where `a` is zero, in its own shape and dtype.
  ValueId is_zero(ValueId a) const {
    Attributes zero{{"shape", std::vector<std::int64_t>{}},
                    {"value", 0.0},
                    {"dtype", std::string(info(b.type(a).dtype).name)}};
    return mask(a, b.emit(Op::constant, {}, std::move(zero)));
  }

  /// The two cotangents, each made only when wanted and summed when its operand is a scalar that
  /// was spread over an array.
  template <class Left, class Right>
  std::vector<ValueId> answer(Left left, Right right) const {
    std::vector<ValueId> out(2, ValueId::none);
    if (input.wants(0)) out[0] = fitted(left(), x);
    if (input.wants(1)) out[1] = fitted(right(), y);
    return out;
  }

  ValueId fitted(ValueId cotangent, ValueId operand) const {
    const int rank = b.type(cotangent).rank();
    if (b.type(operand).rank() == rank) return cotangent;
    std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
    return b.emit(Op::reduce_sum, {cotangent}, Attributes{{"dims", dims}});
  }

  const DerivativeInput& input;
  Builder& b;
  ValueId x, y, z, g;
};

}  // namespace

std::vector<ValueId> add_derivative(const DerivativeInput& input) {
  const Binary d(input);
  return d.answer([&] { return d.g; }, [&] { return d.g; });
}

std::vector<ValueId> subtract_derivative(const DerivativeInput& input) {
  const Binary d(input);
  return d.answer([&] { return d.g; }, [&] { return d.negated(d.g); });
}

std::vector<ValueId> multiply_derivative(const DerivativeInput& input) {
  const Binary d(input);
  return d.answer([&] { return d.times(d.g, d.y); }, [&] { return d.times(d.g, d.x); });
}

std::vector<ValueId> divide_derivative(const DerivativeInput& input) {
  // z = x / y:  dx = g / y,  dy = -(g / y) z
  const Binary d(input);
  const ValueId quotient = d.over(d.g, d.y);
  return d.answer([&] { return quotient; }, [&] { return d.negated(d.times(quotient, d.z)); });
}

std::vector<ValueId> extremum_derivative(const DerivativeInput& input) {
  const Binary d(input);
  const auto share = [&](ValueId mine, ValueId other) {
    return d.times(d.g, d.over(d.mask(mine, d.z), d.shifted(d.mask(other, d.z), 1.0)));
  };
  return d.answer([&] { return share(d.x, d.y); }, [&] { return share(d.y, d.x); });
}

std::vector<ValueId> power_derivative(const DerivativeInput& input) {
  // dx = g y x^(y-1), where y = 0 must give 0 (not 0 * inf): the exponent is then 0.
  // dy = g log(x) x^y, where x = 0 must give 0: the logarithm is then taken of 1.
  const Binary d(input);
  return d.answer(
      [&] {
        const ValueId exponent = d.plus(d.shifted(d.y, -1.0), d.is_zero(d.y));
        return d.times(d.g, d.times(d.y, d.b.emit(Op::power, {d.x, exponent})));
      },
      [&] {
        const ValueId logarithm = d.b.emit(Op::log, {d.plus(d.x, d.is_zero(d.x))});
        return d.times(d.g, d.times(logarithm, d.z));
      });
}

std::vector<ValueId> relu_grad_derivative(const DerivativeInput& input) {
  // Linear in its second operand; a step in its first.
  const Binary d(input);
  if (!input.wants(1)) return no_gradient(input);
  return {ValueId::none, d.fitted(d.b.emit(Op::relu_grad, {d.x, d.g}), d.y)};
}

}  // namespace shard
