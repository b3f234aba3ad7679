#include "property/recorded_tables.h"

namespace shard::test {
namespace {

template <Op op>
Xs whole_one(A a) {
  return {i(a).op(op)};
}
template <Op op>
Xs whole_two(A a) {
  return {apply(op, {i(a), a.at("j")})};
}

// Integers at their limits.

X filled_like(const X& v, double value) { return v.number(value).spread(v.shape()); }

X nonzero(const X& v) { return where(apply(Op::eq, {v, v.number(0)}), filled_like(v, 1), v); }

X floored_quotient(const X& v, const X& by) {
  const X quotient = v / by, rest = apply(Op::remainder, {v, by});
  const X differs = apply(Op::ne, {v.op(Op::sign), by.op(Op::sign)});
  const X moves = apply(Op::bitwise_and, {differs, apply(Op::ne, {rest, rest.number(0)})});
  return where(moves, quotient - 1, quotient);
}

X shift_count(A a) { return apply(Op::bitwise_and, {a.at("j"), a.at("j").number(31)}); }

template <Op op>
Xs shifted(A a) {
  return {apply(op, {i(a), shift_count(a)})};
}
template <Op op>
Xs shifted_too_far(A a) {
  return {apply(op, {i(a), i(a).number(32)})};
}

}  // namespace

const ExpressionTable& recorded_integers() {
  static const ExpressionTable table = {
      {"integer/add_wraps", {exact, whole_two<Op::add>}},
      {"integer/sub_wraps", {exact, whole_two<Op::subtract>}},
      {"integer/mul_wraps", {exact, whole_two<Op::multiply>}},
      {"integer/div_truncates", {exact, [](A a) { return Xs{i(a) / nonzero(a.at("j"))}; }}},
      {"integer/rem_of_truncation",
       {exact,
        [](A a) {
          return Xs{apply(Op::remainder, {i(a), nonzero(a.at("j"))})};
        }}},
      {"integer/floor_divide",
       {exact, [](A a) { return Xs{floored_quotient(i(a), nonzero(a.at("j")))}; }}},
      {"integer/mod_floor",
       {exact, [](A a) { return Xs{floored_remainder(i(a), nonzero(a.at("j")))}; }}},
      {"integer/div_by_zero", {exact, [](A a) { return Xs{i(a) / 0.0}; }}},
      {"integer/rem_by_zero",
       {exact,
        [](A a) {
          return Xs{apply(Op::remainder, {i(a), i(a).number(0)})};
        }}},
      {"integer/and", {exact, whole_two<Op::bitwise_and>}},
      {"integer/or", {exact, whole_two<Op::bitwise_or>}},
      {"integer/xor", {exact, whole_two<Op::bitwise_xor>}},
      {"integer/not", {exact, whole_one<Op::bitwise_not>}},
      {"integer/shift_left", {exact, shifted<Op::shift_left>}},
      {"integer/shift_right_arithmetic", {exact, shifted<Op::shift_right_arithmetic>}},
      {"integer/shift_right_logical", {exact, shifted<Op::shift_right_logical>}},
      {"integer/shift_left_too_far", {exact, shifted_too_far<Op::shift_left>}},
      {"integer/shift_right_arithmetic_too_far",
       {exact, shifted_too_far<Op::shift_right_arithmetic>}},
      {"integer/abs", {exact, whole_one<Op::abs>}},
      {"integer/neg", {exact, whole_one<Op::negate>}},
      {"integer/sign", {exact, whole_one<Op::sign>}},
      {"integer/max", {exact, whole_two<Op::maximum>}},
      {"integer/min", {exact, whole_two<Op::minimum>}},
      {"integer/population_count", {exact, whole_one<Op::population_count>}},
      {"integer/clz", {exact, whole_one<Op::count_leading_zeros>}},
      {"integer/sum_wraps", {exact, [](A a) { return Xs{i(a).reduced(Op::reduce_sum, {0})}; }}},
      {"integer/int_pow", {exact, [](A a) { return Xs{i(a) * i(a) * i(a)}; }}},
      {"integer/clamp", {exact, [](A a) { return Xs{clipped(i(a), -5, 7)}; }}},
  };
  return table;
}

const RecordedExpression* recorded_expression(const std::string& name) {
  const ExpressionTable* tables[] = {&recorded_functions(), &recorded_reductions(),
                                     &recorded_lookups(),   &recorded_moves(),
                                     &recorded_products(),  &recorded_integers()};
  const std::string bare =
      name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1);
  for (const std::string& key : {name, bare}) {
    for (const ExpressionTable* table : tables) {
      const auto found = table->find(key);
      if (found != table->end()) return &found->second;
    }
  }
  return nullptr;
}

}  // namespace shard::test
