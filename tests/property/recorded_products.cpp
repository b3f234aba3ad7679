// Recorded products, convolutions, windows and recurrences.

#include <algorithm>

#include "ops/window_dims.h"
#include "property/recorded_tables.h"

namespace shard::test {
namespace {

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

Xs ragged_dot(A a) {
  return {from(x(a), x(a).builder().emit(Op::ragged_dot, {x(a).id(), y(a).id(), i(a).id()}))};
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

}  // namespace

const ExpressionTable& recorded_products() {
  static const ExpressionTable table = {
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

}  // namespace shard::test
