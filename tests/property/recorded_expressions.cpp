#include "property/recorded_expressions.h"

#include <algorithm>

#include "ops/composed.h"
#include "ops/index_dims.h"
#include "ops/window_dims.h"

namespace shard::test {
namespace {

constexpr Closeness exact = Closeness::exact, function = Closeness::function,
                    special = Closeness::special, product = Closeness::product;

using A = const Arguments&;
using Table = std::map<std::string, RecordedExpression>;

const X& x(A a) { return a.at("x"); }
const X& y(A a) { return a.at("y"); }
const X& i(A a) { return a.at("i"); }

template <Op op>
Xs one(A a) {
  return {x(a).op(op)};
}
template <Op op>
Xs two(A a) {
  return {apply(op, {x(a), y(a)})};
}
template <Op op>
Xs whole_one(A a) {
  return {i(a).op(op)};
}
template <Op op>
Xs whole_two(A a) {
  return {apply(op, {i(a), a.at("j")})};
}
template <Op op>
Xs over_rows(A a) {
  return {x(a).reduced(op, {1})};
}

X where(const X& condition, const X& on_true, const X& on_false) {
  return apply(Op::select, {condition, on_true, on_false});
}
X positive(const X& v) { return apply(Op::gt, {v, v.number(0)}); }
X softplus(const X& v) { return logaddexp(v, v.number(0)); }
X clipped(const X& v, double low, double high) {
  return apply(Op::clamp, {v.number(low), v, v.number(high)});
}
X from(const X& like, ValueId id) { return {like.builder(), id}; }

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

const Table& functions() {
  static const Table table = {
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

X positions(const X& like, Shape shape, std::int64_t dim, DType dtype) {
  return from(like, iota(like.builder(), std::move(shape), dim, dtype));
}

Xs cross_entropy(A a) {
  const X index = i(a).expanded(1);
  const X chosen = from(x(a), take_along(x(a).builder(), log_softmax(x(a)).id(), index.id(), 1));
  return {-chosen.reshaped({x(a).size(0)})};
}

const Table& reductions() {
  static const Table table = {
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

// Lookups. Negative indices count from the end, as in NumPy.

X from_the_end(const X& index, std::int64_t size) {
  const X limit = index.number(static_cast<double>(size));
  return where(apply(Op::lt, {index, index.number(0)}), index + limit, index);
}

Attributes row_attributes(const X& table, const X& index, const char* mode) {
  IndexDims dims;
  for (std::int64_t dim = 1; dim < table.rank(); ++dim) dims.window.push_back(dim);
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = index.rank();
  Attributes attributes = dims.attributes();
  attributes.set("mode", std::string(mode));
  return attributes;
}

X rows(const X& table, const X& index, const char* mode, double fill) {
  Attributes attributes = row_attributes(table, index, mode);
  Shape sizes = table.shape();
  sizes[0] = 1;
  attributes.set("slice_sizes", sizes);
  attributes.set("fill", fill);
  return from(table, table.builder().emit(Op::gather, {table.id(), index.id()}, attributes));
}

template <Op op>
Xs scattered(A a) {
  const X at = from_the_end(i(a), x(a).size(0));
  return {from(x(a), x(a).builder().emit(op, {x(a).id(), at.id(), y(a).id()},
                                         row_attributes(x(a), at, "fill")))};
}

Xs segment_sum(A a) {
  Shape shape = x(a).shape();
  shape[0] = 4;
  const X zeros = from(x(a), filled(x(a).builder(), 0, {x(a).dtype(), shape}));
  return {from(x(a), x(a).builder().emit(Op::scatter_add, {zeros.id(), i(a).id(), x(a).id()},
                                         row_attributes(zeros, i(a), "fill")))};
}

Xs two_indices(A a) {
  const X& j = a.at("j");
  const X pairs =
      from(x(a), concatenated(x(a).builder(),
                              std::vector{from_the_end(i(a), x(a).size(0)).expanded(1).id(),
                                          from_the_end(j, x(a).size(1)).expanded(1).id()},
                              1));
  IndexDims dims;
  for (std::int64_t dim = 2; dim < x(a).rank(); ++dim) dims.window.push_back(dim - 1);
  dims.collapsed = dims.start = {0, 1};
  dims.vector = 1;
  Attributes attributes = dims.attributes();
  Shape sizes = x(a).shape();
  sizes[0] = sizes[1] = 1;
  attributes.set("slice_sizes", sizes);
  attributes.set("mode", std::string("clip"));
  return {from(x(a), x(a).builder().emit(Op::gather, {x(a).id(), pairs.id()}, attributes))};
}

Xs sliced_at(A a) {
  return {from(x(a), x(a).builder().emit(Op::dynamic_slice, {x(a).id(), i(a).id(), a.at("j").id()},
                                         {{"sizes", Dims{2, 3}}}))};
}

Xs updated_at(A a) {
  return {from(x(a), x(a).builder().emit(Op::dynamic_update_slice,
                                         {x(a).id(), y(a).id(), i(a).id(), a.at("j").id()}))};
}

const Table& lookups() {
  static const Table table = {
      {"take_rows",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_rows_negative",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_fill",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "fill", -1)}; }}},
      {"take_clip",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_along_axis",
       {exact,
        [](A a) {
          return Xs{from(x(a), take_along(x(a).builder(), x(a).id(),
                                          from_the_end(i(a), x(a).size(1)).id(), 1))};
        }}},
      {"gather_two_indices", {exact, two_indices}},
      {"scatter_add", {function, scattered<Op::scatter_add>}},
      {"scatter_add_out_of_range", {function, scattered<Op::scatter_add>}},
      {"scatter_set", {exact, scattered<Op::scatter_set>}},
      {"scatter_max", {exact, scattered<Op::scatter_max>}},
      {"scatter_mul", {function, scattered<Op::scatter_mul>}},
      {"segment_sum", {function, segment_sum}},
      {"dynamic_slice", {exact, sliced_at}},
      {"dynamic_slice_clamped", {exact, sliced_at}},
      {"dynamic_update_slice", {exact, updated_at}},
      {"dynamic_update_slice_clamped", {exact, updated_at}},
  };
  return table;
}

// Moved elements.

X joined(const Xs& parts, std::int64_t dim) {
  std::vector<ValueId> ids;
  for (const X& part : parts) ids.push_back(part.id());
  return from(parts[0], concatenated(parts[0].builder(), ids, dim));
}

X padded(const X& v, double value, Dims low, Dims high, Dims interior) {
  return from(v, v.builder().emit(Op::pad, {v.id(), v.number(value).id()},
                                  {{"low", std::move(low)},
                                   {"high", std::move(high)},
                                   {"interior", std::move(interior)}}));
}

/// 1 where the column's position is in this order to the row's, shifted.
X triangle(const X& v, Op order, double shift) {
  const X row = positions(v, v.shape(), 0, DType::i32) + shift;
  return where(apply(order, {positions(v, v.shape(), 1, DType::i32), row}), v, v.number(0));
}

Xs strided(A a) {
  const X part = from(
      x(a), x(a).builder().emit(
                Op::slice, {x(a).id()},
                {{"start", Dims{1, 0}}, {"limit", Dims{5, x(a).size(1)}}, {"stride", Dims{2, 1}}}));
  return {part.op(Op::reverse, {{"dims", Dims{1}}})};
}

const Table& movements() {
  static const Table table = {
      {"reverse",
       {exact,
        [](A a) {
          return Xs{x(a).op(Op::reverse, {{"dims", Dims{1}}})};
        }}},
      {"roll",
       {exact,
        [](A a) {
          const std::int64_t size = x(a).size(1);
          return Xs{joined({x(a).part(1, size - 2, size), x(a).part(1, 0, size - 2)}, 1)};
        }}},
      {"reshape",
       {exact,
        [](A a) {
          return Xs{x(a).reshaped({4, 6})};
        }}},
      {"transpose",
       {exact,
        [](A a) {
          return Xs{x(a).op(Op::transpose, {{"order", Dims{2, 0, 1}}})};
        }}},
      {"broadcast",
       {exact,
        [](A a) {
          return Xs{x(a).spread({3, 2, 4})};
        }}},
      {"slice_strided", {exact, strided}},
      {"concatenate",
       {exact,
        [](A a) {
          return Xs{joined({x(a), y(a)}, 1)};
        }}},
      {"stack",
       {exact,
        [](A a) {
          return Xs{joined({x(a).expanded(1), y(a).expanded(1)}, 1)};
        }}},
      {"split",
       {exact,
        [](A a) {
          return Xs{x(a).part(1, 0, 1), x(a).part(1, 1, 4), x(a).part(1, 4, x(a).size(1))};
        }}},
      {"repeat",
       {exact,
        [](A a) {
          const Shape shape = x(a).shape();
          return Xs{
              x(a).expanded(2).spread({shape[0], shape[1], 2}).reshaped({shape[0], 2 * shape[1]})};
        }}},
      {"tile",
       {exact,
        [](A a) {
          const Shape shape = x(a).shape();
          return Xs{x(a).reshaped({1, shape[0], 1, shape[1]})
                        .spread({2, shape[0], 3, shape[1]})
                        .reshaped({2 * shape[0], 3 * shape[1]})};
        }}},
      {"pad",
       {exact,
        [](A a) {
          return Xs{padded(x(a), 1.5, {1, 0}, {2, 1}, {0, 0})};
        }}},
      {"pad_negative_interior",
       {exact,
        [](A a) {
          return Xs{padded(x(a), 0, {-1, 0}, {2, -1}, {1, 0})};
        }}},
      {"tril", {exact, [](A a) { return Xs{triangle(x(a), Op::le, -1)}; }}},
      {"triu", {exact, [](A a) { return Xs{triangle(x(a), Op::ge, 1)}; }}},
      {"one_hot",
       {exact,
        [](A a) {
          return Xs{from(x(a), one_hot(x(a).builder(), i(a).id(), 5, x(a).dtype())) * x(a)};
        }}},
      {"iota",
       {function,
        [](A a) {
          return Xs{positions(x(a), {3, 4}, 1, x(a).dtype()) + x(a)};
        }}},
      {"linspace",
       {function,
        [](A a) { return Xs{(positions(x(a), {7}, 0, DType::f32) / 6).as(x(a).dtype()) * x(a)}; }}},
  };
  return table;
}

// Products and windows.

X dot(const X& a, const X& b, Attributes attributes) {
  return from(a, a.builder().emit(Op::dot, {a.id(), b.id()}, std::move(attributes)));
}

struct ConvolutionForm {
  bool is_features_last = true;
  Dims strides = {1, 1}, low = {0, 0}, high = {0, 0}, lhs_dilation = {1, 1}, rhs_dilation = {1, 1};
  std::int64_t groups = 1;
};

Xs convolved(A a, const ConvolutionForm& form) {
  const X& w = a.at("w");
  const std::size_t spatial = form.strides.size();
  ConvolutionDims dims;
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  if (form.is_features_last) {
    dims = {{0, last}, {last, last - 1}, {0, last}, form.groups, 1};
  } else {
    dims = {{0, 1}, {0, 1}, {0, 1}, form.groups, 1};
  }
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(spatial); ++k) {
    dims.lhs.push_back(form.is_features_last ? k + 1 : k + 2);
    dims.rhs.push_back(form.is_features_last ? k : k + 2);
    dims.out.push_back(dims.lhs.back());
  }
  const Windows windows{{},        form.strides,      form.low,
                        form.high, form.rhs_dilation, form.lhs_dilation};
  return {from(x(a), x(a).builder().emit(Op::convolution, {x(a).id(), w.id()},
                                         convolution_attributes(dims, windows)))};
}

/// The padding with which a convolution has ceil(size / stride) windows.
void pad_to_same(A a, ConvolutionForm& form, std::size_t first) {
  const X& w = a.at("w");
  for (std::size_t k = 0; k < form.strides.size(); ++k) {
    const std::int64_t size = x(a).size(static_cast<std::int64_t>(first + k));
    const std::int64_t window =
        w.size(static_cast<std::int64_t>(form.is_features_last ? k : k + 2));
    const std::int64_t count = (size + form.strides[k] - 1) / form.strides[k];
    const std::int64_t padding =
        std::max<std::int64_t>(0, (count - 1) * form.strides[k] + window - size);
    form.low[k] = padding / 2;
    form.high[k] = padding - padding / 2;
  }
}

Xs convolved_to_same(A a, ConvolutionForm form) {
  pad_to_same(a, form, form.is_features_last ? 1 : 2);
  return convolved(a, form);
}

X pooled(const X& v, Op op, Dims window, Dims strides, bool is_same) {
  Windows windows{std::move(window), std::move(strides), Dims(4, 0),
                  Dims(4, 0),        Dims(4, 1),         Dims(4, 1)};
  for (std::size_t d = 0; is_same && d < 4; ++d) {
    const std::int64_t size = v.shape()[d], step = windows.strides[d];
    const std::int64_t count = (size + step - 1) / step;
    const std::int64_t padding =
        std::max<std::int64_t>(0, (count - 1) * step + windows.sizes[d] - size);
    windows.low[d] = padding / 2;
    windows.high[d] = padding - padding / 2;
  }
  return v.op(op, {{"window", windows.sizes},
                   {"strides", windows.strides},
                   {"low", windows.low},
                   {"high", windows.high},
                   {"dilation", windows.dilation},
                   {"base_dilation", windows.base_dilation}});
}

/// Rows of x by the matrix of their group; the groups follow each other.
Xs ragged_dot(A a) {
  const std::int64_t count = x(a).size(0), groups = i(a).size(0);
  const X ends = i(a).op(Op::cumsum, {{"dim", std::int64_t{0}}, {"reverse", std::int64_t{0}}});
  const X row = positions(x(a), {count, groups}, 0, DType::i32);
  const X is_before_end = apply(Op::lt, {row, ends}), is_after = apply(Op::ge, {row, ends - i(a)});
  const X mask = apply(Op::bitwise_and, {is_before_end, is_after}).as(x(a).dtype());
  const X all = dot(x(a), y(a), dot_attributes({}, {}, {1}, {1}));  // [row, group, n]
  return {(all * mask.expanded(2)).reduced(Op::reduce_sum, {1})};
}

Xs recurrence(A a) {
  X state = x(a).part(0, 0, 1).reshaped({x(a).size(1)});
  Xs all;
  for (std::int64_t t = 1; t < x(a).size(0); ++t) {
    state = (state * a.at("w") + x(a).part(0, t, t + 1).reshaped({x(a).size(1)})).op(Op::tanh);
    all.push_back(state.expanded(0));
  }
  return {joined(all, 0)};
}

const Table& products() {
  static const Table table = {
      {"matmul",
       {product, [](A a) { return Xs{dot(x(a), y(a), dot_attributes({}, {}, {1}, {0}))}; }}},
      {"matmul_batched",
       {product, [](A a) { return Xs{dot(x(a), y(a), dot_attributes({0}, {0}, {2}, {1}))}; }}},
      {"matmul_float32_out",
       {product,
        [](A a) {
          return Xs{
              dot(x(a).as(DType::f32), y(a).as(DType::f32), dot_attributes({}, {}, {1}, {0}))};
        }}},
      {"einsum_two_contractions",
       {product,
        [](A a) {
          return Xs{dot(x(a), y(a), dot_attributes({}, {}, {2, 3}, {0, 1}))};
        }}},
      {"einsum_outer",
       {product, [](A a) { return Xs{dot(x(a), y(a), dot_attributes({0}, {0}, {}, {}))}; }}},
      {"ragged_dot", {product, ragged_dot}},
      {"conv1d_same",
       {product,
        [](A a) {
          return convolved_to_same(a, {true, {1}, {0}, {0}, {1}, {1}, 1});
        }}},
      {"conv1d_causal_depthwise",
       {product,
        [](A a) {
          return convolved(a, {true, {1}, {3}, {0}, {1}, {1}, 3});
        }}},
      {"conv2d_valid", {product, [](A a) { return convolved(a, {}); }}},
      {"conv2d_same_strided",
       {product,
        [](A a) {
          ConvolutionForm form;
          form.strides = {2, 2};
          return convolved_to_same(a, form);
        }}},
      {"conv2d_dilated",
       {product,
        [](A a) {
          ConvolutionForm form;
          form.rhs_dilation = {2, 2};
          return convolved(a, form);
        }}},
      {"conv2d_grouped",
       {product,
        [](A a) {
          ConvolutionForm form;
          form.groups = 2;
          return convolved_to_same(a, form);
        }}},
      {"conv2d_nchw",
       {product,
        [](A a) {
          ConvolutionForm form;
          form.is_features_last = false;
          return convolved_to_same(a, form);
        }}},
      {"conv2d_transposed",
       {product,
        [](A a) {
          ConvolutionForm form;
          form.low = {1, 1};
          form.high = {2, 2};
          form.lhs_dilation = {2, 2};
          return convolved(a, form);
        }}},
      {"max_pool",
       {exact,
        [](A a) {
          return Xs{pooled(x(a), Op::reduce_window_max, {1, 2, 2, 1}, {1, 2, 2, 1}, false)};
        }}},
      {"max_pool_overlapping",
       {exact,
        [](A a) {
          return Xs{pooled(x(a), Op::reduce_window_max, {1, 3, 3, 1}, {1, 2, 2, 1}, true)};
        }}},
      {"mean_pool",
       {function,
        [](A a) {
          return Xs{pooled(x(a), Op::reduce_window_sum, {1, 2, 2, 1}, {1, 2, 2, 1}, false) / 4};
        }}},
      {"scan_recurrence", {product, recurrence}},
      {"associative_scan",
       {product,
        [](A a) {
          return Xs{apply(Op::linear_recurrence, {a.at("a"), x(a)},
                          {{"dim", std::int64_t{0}}, {"reverse", std::int64_t{0}}})};
        }}},
      {"fori_power", {product, [](A a) { return Xs{x(a) * x(a) * x(a) * x(a)}; }}},
  };
  return table;
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

const Table& integers() {
  static const Table table = {
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

}  // namespace

const RecordedExpression* recorded_expression(const std::string& name) {
  const Table* tables[] = {&functions(), &reductions(), &lookups(),
                           &movements(), &products(),   &integers()};
  const std::string bare =
      name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1);
  for (const std::string& key : {name, bare}) {
    for (const Table* table : tables) {
      const auto found = table->find(key);
      if (found != table->end()) return &found->second;
    }
  }
  return nullptr;
}

}  // namespace shard::test
