#include "model/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace shard {
namespace {

/// Arithmetic on scalars of f32.
class Scalars {
 public:
  explicit Scalars(GraphBuilder& builder) : builder_(builder) {}

  ValueId number(double value) {
    return builder_.emit(
        Op::constant, {},
        Attributes{{"shape", Shape{}}, {"value", value}, {"dtype", std::string("f32")}});
  }
  ValueId one(Op op, ValueId x) { return builder_.emit(op, {x}); }
  ValueId two(Op op, ValueId x, ValueId y) { return builder_.emit(op, {x, y}); }
  ValueId two(Op op, std::array<ValueId, 2> operands) { return builder_.emit(op, operands, {}); }
  ValueId two(Op op, ValueId x, double y) { return two(op, x, number(y)); }
  ValueId times(ValueId x, double factor) { return with_value(Op::scale, x, factor); }
  ValueId plus(ValueId x, double term) { return with_value(Op::shift, x, term); }
  ValueId to_f32(ValueId x) {
    return builder_.emit(Op::convert, {x}, Attributes{{"dtype", std::string("f32")}});
  }
  /// Of numbers that are not negative.
  ValueId whole_part(ValueId x) {
    return to_f32(builder_.emit(Op::convert, {x}, Attributes{{"dtype", std::string("i32")}}));
  }
  /// 1 where x < limit, else 0; for whole numbers.
  ValueId is_before(ValueId x, double limit) {
    const ValueId left = plus(one(Op::negate, x), limit);
    return two(Op::maximum, one(Op::sign, left), 0.0);
  }
  /// a where `mask` is 1, b where it is 0.
  ValueId either(ValueId mask, ValueId a, ValueId b) {
    return two(Op::add, {two(Op::multiply, mask, a),
                         two(Op::multiply, plus(one(Op::negate, mask), 1.0), b)});
  }
  ValueId clamped(ValueId x, double least, double most) {
    return two(Op::minimum, two(Op::maximum, x, least), most);
  }

 private:
  ValueId with_value(Op op, ValueId x, double value) {
    return builder_.emit(op, {x}, Attributes{{"value", value}});
  }

  GraphBuilder& builder_;
};

/// The arguments of a schedule, with the defaults of those that may be left out.
class ScheduleArguments {
 public:
  explicit ScheduleArguments(const ScheduleConfig& schedule) : schedule_(schedule) {}

  std::optional<double> given(std::string_view key) const {
    for (const auto& [name, value] : schedule_.arguments) {
      if (name == key) return value;
    }
    return std::nullopt;
  }
  double number(std::string_view key, double standard = 0) const {
    return given(key).value_or(standard);
  }

 private:
  const ScheduleConfig& schedule_;
};

/// `step` is an f32 scalar.
using ScheduleFunction = ValueId (*)(Scalars& s, const ScheduleConfig& schedule, ValueId step);

ValueId rate_at(Scalars& s, const ScheduleConfig& schedule, ValueId step);

ValueId power_of(Scalars& s, ValueId x, double exponent) {
  return exponent == 1 ? x : s.two(Op::power, x, exponent);
}

ValueId constant_rate(Scalars& s, const ScheduleConfig& schedule, ValueId) {
  return s.number(ScheduleArguments(schedule).number("value"));
}

/// (first - last) * (1 - done)^power + last.
ValueId polynomial_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const double steps = arguments.number("transition_steps");
  const double first = arguments.number("init_value"), last = arguments.number("end_value");
  const ValueId done = s.clamped(s.plus(step, -arguments.number("transition_begin")), 0, steps);
  const ValueId left = s.plus(s.one(Op::negate, s.two(Op::divide, done, steps)), 1.0);
  return s.plus(s.times(power_of(s, left, arguments.number("power", 1)), first - last), last);
}

/// Half a cosine from `first` to `last` over `steps`.
ValueId cosine_curve(Scalars& s, ValueId step, double first, double last, double steps,
                     double exponent) {
  const ValueId done = s.two(Op::divide, s.two(Op::minimum, step, steps), steps);
  const ValueId wave = s.one(Op::cos, s.times(done, std::numbers::pi));
  const ValueId curve = power_of(s, s.times(s.plus(wave, 1.0), 0.5), exponent);
  return s.plus(s.times(curve, first - last), last);
}

ValueId cosine_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const double first = arguments.number("init_value");
  return cosine_curve(s, step, first, first * arguments.number("alpha"),
                      arguments.number("decay_steps"), arguments.number("exponent", 1));
}

ValueId warmup_cosine_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const double first = arguments.number("init_value"), peak = arguments.number("peak_value");
  const double warmup = arguments.number("warmup_steps");
  const ValueId done = s.two(Op::divide, s.clamped(step, 0, warmup), warmup);
  const ValueId up = s.plus(s.times(done, peak - first), first);
  const ValueId down =
      cosine_curve(s, s.plus(step, -warmup), peak, arguments.number("end_value"),
                   arguments.number("decay_steps") - warmup, arguments.number("exponent", 1));
  return s.either(s.is_before(step, warmup), up, down);
}

ValueId exponential_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const ValueId since = s.two(Op::maximum, s.plus(step, -arguments.number("transition_begin")), 0);
  ValueId transitions = s.two(Op::divide, since, arguments.number("transition_steps"));
  if (arguments.number("staircase") != 0) transitions = s.whole_part(transitions);
  const double factor = arguments.number("decay_rate");
  const ValueId decay = s.two(Op::power, s.number(factor), transitions);
  const ValueId rate = s.times(decay, arguments.number("init_value"));
  const auto bound = arguments.given("end_value");
  if (!bound) return rate;
  return s.two(factor < 1 ? Op::maximum : Op::minimum, rate, *bound);
}

ValueId piecewise_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  ValueId rate = s.number(ScheduleArguments(schedule).number("init_value"));
  for (const auto& [boundary, factor] : schedule.scales) {
    // The factor holds from the boundary itself on.
    const ValueId is_before = s.is_before(step, static_cast<double>(boundary));
    rate = s.either(is_before, rate, s.times(rate, factor));
  }
  return rate;
}

ValueId rsqrt_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const ValueId clamped =
      s.two(Op::maximum, step, std::max(1.0, arguments.number("least_step", 1)));
  return s.times(s.one(Op::rsqrt, clamped), arguments.number("scale"));
}

/// min(step * warmup^-1.5, 1 / sqrt(step)): both sides meet at the end of the warmup.
ValueId warmup_rsqrt_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const ScheduleArguments arguments(schedule);
  const ValueId up = s.times(step, std::pow(arguments.number("warmup_steps"), -1.5));
  const ValueId down = s.one(Op::rsqrt, s.two(Op::maximum, step, 1.0));
  return s.times(s.two(Op::minimum, up, down), arguments.number("scale"));
}

ValueId joined_rate(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  ValueId rate = rate_at(s, schedule.parts.front(), step);
  for (std::size_t i = 1; i < schedule.parts.size(); ++i) {
    const auto begin = static_cast<double>(schedule.boundaries[i - 1]);
    const ValueId next = rate_at(s, schedule.parts[i], s.plus(step, -begin));
    rate = s.either(s.is_before(step, begin), rate, next);
  }
  return rate;
}

struct ScheduleRow {
  std::string_view kind;
  ScheduleFunction value;
};

constexpr std::array<ScheduleRow, 10> schedule_rows = {{
    {"constant", constant_rate},
    {"linear", polynomial_rate},
    {"polynomial", polynomial_rate},
    {"cosine_decay", cosine_rate},
    {"warmup_cosine_decay", warmup_cosine_rate},
    {"exponential_decay", exponential_rate},
    {"piecewise_constant", piecewise_rate},
    {"rsqrt", rsqrt_rate},
    {"warmup_rsqrt", warmup_rsqrt_rate},
    {"join", joined_rate},
}};

ValueId rate_at(Scalars& s, const ScheduleConfig& schedule, ValueId step) {
  const auto row = std::find_if(schedule_rows.begin(), schedule_rows.end(),
                                [&](const auto& one) { return one.kind == schedule.kind; });
  SHARD_CHECK(row != schedule_rows.end(), "the reader knows the same schedules");
  return row->value(s, schedule, step);
}

}  // namespace

ValueId schedule_value(GraphBuilder& builder, const ScheduleConfig& schedule, ValueId count) {
  Scalars scalars(builder);
  return rate_at(scalars, schedule, scalars.to_f32(count));
}

}  // namespace shard
