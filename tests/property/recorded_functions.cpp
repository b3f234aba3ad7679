// Recorded elementwise functions and reductions.

#include "property/recorded_tables.h"

namespace shard::test {
namespace {

template <Op op>
Xs one(A a) {
  return {x(a).op(op)};
}
template <Op op>
Xs two(A a) {
  return {apply(op, {x(a), y(a)})};
}
template <Op op>
Xs over_rows(A a) {
  return {x(a).reduced(op, {1})};
}

X positive(const X& v) { return apply(Op::gt, {v, v.number(0)}); }
X softplus(const X& v) { return logaddexp(v, v.number(0)); }

/// The same bits as integers and back: nothing flows backwards through that.
X without_gradient(const X& v) {
  const char* bits = v.dtype() == DType::bf16 ? "i16" : "i32";
  return v.op(Op::bitcast, {{"dtype", std::string(bits)}})
      .op(Op::bitcast, {{"dtype", std::string(info(v.dtype()).name)}});
}

/// alpha (exp(v) - 1) below 0, without the overflow that the other side would have.
X exponential_tail(const X& v, double alpha) {
  return where(positive(v), v, where(positive(v), v.number(0), v).op(Op::expm1) * alpha);
}

Xs leaky_relu(A a) { return {where(apply(Op::ge, {x(a), x(a).number(0)}), x(a), x(a) * 0.1)}; }

Attributes along(std::int64_t reverse) { return {{"dim", std::int64_t{1}}, {"reverse", reverse}}; }

X arg(const X& v, Op op) { return v.op(op, {{"dim", std::int64_t{1}}}); }

Xs sorted(const Xs& operands) {
  std::vector<ValueId> ids;
  for (const X& v : operands) ids.push_back(v.id());
  Xs results;
  for (const ValueId id : operands[0].builder().emit_all(
           Op::sort, ids, {{"dim", std::int64_t{1}}, {"keys", std::int64_t{1}}})) {
    results.push_back(from(operands[0], id));
  }
  return results;
}

Xs largest(const X& v, std::int64_t k) {
  Xs results;
  const ValueId id = v.id();
  for (const ValueId one : v.builder().emit_all(Op::top_k, {&id, 1}, {{"k", k}})) {
    results.push_back(from(v, one));
  }
  return results;
}

Xs cross_entropy(A a) {
  const X index = i(a).expanded(1);
  const X chosen = from(x(a), take_along(x(a).builder(), log_softmax(x(a)).id(), index.id(), 1));
  return {-chosen.reshaped({x(a).size(0)})};
}

}  // namespace

const ExpressionTable& recorded_functions() {
  static const ExpressionTable table = {
      {"exp", {function, one<Op::exp>}},
      {"exp2", {function, one<Op::exp2>}},
      {"expm1", {function, one<Op::expm1>}},
      {"log", {function, one<Op::log>}},
      {"log1p", {function, one<Op::log1p>}},
      {"sqrt", {function, one<Op::sqrt>}},
      {"rsqrt", {function, one<Op::rsqrt>}},
      {"cbrt", {function, one<Op::cbrt>}},
      {"sin", {function, one<Op::sin>}},
      {"cos", {function, one<Op::cos>}},
      {"tan", {function, one<Op::tan>}},
      {"asin", {function, one<Op::asin>}},
      {"atan", {function, one<Op::atan>}},
      {"sinh", {function, one<Op::sinh>}},
      {"cosh", {function, one<Op::cosh>}},
      {"tanh", {function, one<Op::tanh>}},
      {"erf", {function, one<Op::erf>}},
      {"erfc", {function, one<Op::erfc>}},
      {"erf_inv", {special, one<Op::erf_inv>}},
      {"lgamma", {special, one<Op::lgamma>}},
      {"digamma",
       {special,
        [](A a) {
          return Xs{x(a).op(Op::polygamma, {{"order", std::int64_t{0}}})};
        }}},
      {"sigmoid", {function, one<Op::sigmoid>}},
      {"log_sigmoid", {function, [](A a) { return Xs{-softplus(-x(a))}; }}},
      {"softplus", {function, [](A a) { return Xs{softplus(x(a))}; }}},
      {"silu", {function, one<Op::silu>}},
      {"gelu_tanh", {function, one<Op::gelu>}},
      {"gelu_erf",
       {function,
        [](A a) { return Xs{x(a) * 0.5 * (x(a) * -0.70710678118654752440).op(Op::erfc)}; }}},
      {"mish", {function, [](A a) { return Xs{x(a) * softplus(x(a)).op(Op::tanh)}; }}},
      {"relu", {function, one<Op::relu>}},
      {"relu_squared", {function, [](A a) { return Xs{x(a).op(Op::relu).op(Op::square)}; }}},
      {"leaky_relu", {function, leaky_relu}},
      {"elu", {function, [](A a) { return Xs{exponential_tail(x(a), 1)}; }}},
      {"selu",
       {function,
        [](A a) { return Xs{exponential_tail(x(a), 1.6732632423543772) * 1.0507009873554805}; }}},
      {"hard_tanh", {function, [](A a) { return Xs{clipped(x(a), -1, 1)}; }}},
      {"hard_swish", {function, [](A a) { return Xs{x(a) * (clipped(x(a) + 3, 0, 6) / 6)}; }}},
      {"abs", {function, one<Op::abs>}},
      {"neg", {function, one<Op::negate>}},
      {"sign", {exact, one<Op::sign>}},
      {"square", {function, one<Op::square>}},
      {"reciprocal", {function, [](A a) { return Xs{x(a).number(1) / x(a)}; }}},
      {"integer_pow", {function, [](A a) { return Xs{x(a) * x(a).op(Op::square)}; }}},
      {"floor", {exact, one<Op::floor>}},
      {"ceil", {exact, one<Op::ceil>}},
      {"round_half_even", {exact, one<Op::round>}},
      {"stop_gradient", {function, [](A a) { return Xs{x(a) * without_gradient(x(a))}; }}},
      {"add", {function, two<Op::add>}},
      {"add_broadcast", {function, two<Op::add>}},
      {"sub", {function, two<Op::subtract>}},
      {"mul", {function, two<Op::multiply>}},
      {"div", {function, two<Op::divide>}},
      {"max", {exact, two<Op::maximum>}},
      {"min", {exact, two<Op::minimum>}},
      {"pow", {special, two<Op::power>}},
      {"atan2", {function, two<Op::atan2>}},
      {"rem", {function, two<Op::remainder>}},
      {"mod_floor", {function, [](A a) { return Xs{floored_remainder(x(a), y(a))}; }}},
      {"logaddexp", {function, [](A a) { return Xs{logaddexp(x(a), y(a))}; }}},
      {"less", {exact, two<Op::lt>}},
      {"equal", {exact, two<Op::eq>}},
      {"where", {exact, [](A a) { return Xs{where(a.at("c"), x(a), y(a))}; }}},
      {"clip", {exact, [](A a) { return Xs{clipped(x(a), -0.5, 1)}; }}},
      {"clamp_by_values",
       {exact,
        [](A a) {
          return Xs{apply(Op::clamp, {a.at("a"), x(a), a.at("b")})};
        }}},
  };
  return table;
}

const ExpressionTable& recorded_reductions() {
  static const ExpressionTable table = {
      {"sum", {function, over_rows<Op::reduce_sum>}},
      {"sum_two_axes",
       {function,
        [](A a) {
          return Xs{x(a).reduced(Op::reduce_sum, {0, 2})};
        }}},
      {"mean", {function, [](A a) { return Xs{mean(x(a), {1})}; }}},
      {"prod", {function, over_rows<Op::reduce_prod>}},
      {"reduce_max", {exact, over_rows<Op::reduce_max>}},
      {"reduce_min", {exact, over_rows<Op::reduce_min>}},
      {"variance", {function, [](A a) { return Xs{variance(x(a), {1})}; }}},
      {"std", {function, [](A a) { return Xs{variance(x(a), {1}).op(Op::sqrt)}; }}},
      {"argmax", {exact, [](A a) { return Xs{arg(x(a), Op::argmax)}; }}},
      {"argmin", {exact, [](A a) { return Xs{arg(x(a), Op::argmin)}; }}},
      {"any", {exact, [](A a) { return Xs{a.at("c").reduced(Op::reduce_or, {1})}; }}},
      {"all", {exact, [](A a) { return Xs{a.at("c").reduced(Op::reduce_and, {1})}; }}},
      {"logsumexp", {product, [](A a) { return Xs{logsumexp(x(a)).reshaped({x(a).size(0)})}; }}},
      {"l2_norm",
       {function, [](A a) { return Xs{(x(a) * x(a)).reduced(Op::reduce_sum, {1}).op(Op::sqrt)}; }}},
      {"softmax", {product, [](A a) { return Xs{softmax(x(a))}; }}},
      {"log_softmax", {product, [](A a) { return Xs{log_softmax(x(a))}; }}},
      {"softmax_where",
       {product, [](A a) { return Xs{softmax(where(a.at("c"), x(a), x(a).number(-1e30)))}; }}},
      {"rms_norm",
       {product,
        [](A a) {
          const X scale = (mean(x(a) * x(a), {1}, true) + 1e-5).op(Op::rsqrt);
          return Xs{x(a) * scale * a.at("s")};
        }}},
      {"layer_norm",
       {product,
        [](A a) {
          const X scale = (variance(x(a), {1}, true) + 1e-5).op(Op::rsqrt);
          return Xs{(x(a) - mean(x(a), {1}, true)) * scale * a.at("s") + a.at("b")};
        }}},
      {"batch_norm_train",
       {product,
        [](A a) {
          const X scale = (variance(x(a), {0}) + 1e-5).op(Op::rsqrt);
          return Xs{(x(a) - mean(x(a), {0})) * scale * a.at("s") + a.at("b")};
        }}},
      {"cross_entropy", {product, cross_entropy}},
      {"cumsum", {function, [](A a) { return Xs{x(a).op(Op::cumsum, along(0))}; }}},
      {"cumsum_reverse", {function, [](A a) { return Xs{x(a).op(Op::cumsum, along(1))}; }}},
      {"cumprod", {function, [](A a) { return Xs{x(a).op(Op::cumprod, along(0))}; }}},
      {"cummax", {exact, [](A a) { return Xs{x(a).op(Op::cummax, along(0))}; }}},
      {"cumlogsumexp", {product, [](A a) { return Xs{x(a).op(Op::cumlogsumexp, along(0))}; }}},
      {"sort", {exact, [](A a) { return sorted({x(a)}); }}},
      {"sort_pairs",
       {exact,
        [](A a) {
          return sorted({x(a), y(a)});
        }}},
      {"argsort",
       {exact,
        [](A a) {
          return Xs{sorted({x(a), positions(x(a), x(a).shape(), 1, DType::i32)})[1]};
        }}},
      {"top_k", {exact, [](A a) { return largest(x(a), 3); }}},
      {"top_k_distinct", {exact, [](A a) { return largest(x(a), 3); }}},
      {"rows/top_k", {exact, [](A a) { return largest(x(a), 2); }}},
  };
  return table;
}

}  // namespace shard::test
