// Derivatives of convolutions and of reductions over windows: convolutions and windows again, as
// JAX arranges them (jax/_src/lax/convolution.py and windowed_reductions.py).

#include "ops/composed.h"
#include "ops/derivatives.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t extent(std::int64_t size, std::int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// One convolution with what its derivatives ask about it.
struct Convolution {
  explicit Convolution(const DerivativeInput& input)
      : b(input.builder),
        lhs(input.operands[0]),
        rhs(input.operands[1]),
        g(input.cotangents[0]),
        dims(convolution_dims(input.attributes)),
        windows(convolution_windows(input.attributes, b.type(rhs).shape)) {}

  std::int64_t size(ValueId value, std::int64_t dim) const {
    return b.type(value).shape[static_cast<std::size_t>(dim)];
  }
  ValueId convolve(ValueId x, ValueId kernel, const ConvolutionDims& roles,
                   const Windows& over) const {
    return b.emit(Op::convolution, {x, kernel}, convolution_attributes(roles, over));
  }

  Builder& b;
  ValueId lhs, rhs, g;
  ConvolutionDims dims;
  Windows windows;
};

/// The groups along dim `from` become the leading part of dim `to`: [.., groups * n, .., m, ..] to
/// [.., n, .., groups * m, ..].
ValueId moved_groups(Builder& b, ValueId x, std::int64_t groups, std::int64_t from,
                     std::int64_t to) {
  if (groups == 1) return x;
  Shape shape = b.type(x).shape;
  shape[static_cast<std::size_t>(from)] /= groups;
  shape.insert(shape.begin() + from, groups);
  const ValueId apart = reshaped(b, x, shape);
  // The group dim stands at `from`; it goes before `to`, both counted without it.
  Dims order;
  const auto rank = static_cast<std::int64_t>(shape.size());
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (dim != from) order.push_back(dim);
  }
  order.insert(order.begin() + to, from);
  const ValueId turned = b.emit(Op::transpose, {apart}, Attributes{{"order", order}});
  Shape joined = b.type(turned).shape;
  joined[static_cast<std::size_t>(to)] *= joined[static_cast<std::size_t>(to) + 1];
  joined.erase(joined.begin() + to + 1);
  return reshaped(b, turned, joined);
}

ValueId array_cotangent(const Convolution& c) {
  ConvolutionDims roles{c.dims.out, c.dims.rhs, c.dims.lhs, c.dims.feature_groups, 1};
  std::swap(roles.rhs[0], roles.rhs[1]);
  ValueId kernel = moved_groups(c.b, c.rhs, c.dims.feature_groups, c.dims.rhs[0], c.dims.rhs[1]);
  // Batch groups become feature groups of the cotangent, whose examples they were.
  if (c.dims.batch_groups > 1) {
    kernel = moved_groups(c.b, c.rhs, c.dims.batch_groups, c.dims.rhs[0], c.dims.rhs[1]);
    roles.feature_groups = c.dims.batch_groups;
  }
  kernel = c.b.emit(Op::reverse, {kernel},
                    Attributes{{"dims", Dims(c.dims.rhs.begin() + 2, c.dims.rhs.end())}});
  Windows over = c.windows;
  std::swap(over.strides, over.base_dilation);
  for (std::size_t i = 0; i < over.sizes.size(); ++i) {
    const std::int64_t window = extent(over.sizes[i], over.dilation[i]);
    const std::int64_t in = extent(c.size(c.lhs, c.dims.lhs[i + 2]), c.windows.base_dilation[i]);
    const std::int64_t out = extent(c.size(c.g, c.dims.out[i + 2]), c.windows.strides[i]);
    over.low[i] = window - c.windows.low[i] - 1;
    over.high[i] = in + window - 1 - out - over.low[i];
  }
  const ValueId cotangent = c.convolve(c.g, kernel, roles, over);
  if (c.dims.batch_groups == 1) return cotangent;
  return moved_groups(c.b, cotangent, c.dims.batch_groups, c.dims.lhs[1], c.dims.lhs[0]);
}

ValueId kernel_cotangent(const Convolution& c) {
  // Examples and features change places: the array's features are convolved over the examples.
  ConvolutionDims roles{c.dims.lhs, c.dims.out, c.dims.rhs, 1, 1};
  for (Dims* order : {&roles.lhs, &roles.rhs, &roles.out}) std::swap((*order)[0], (*order)[1]);
  if (c.dims.batch_groups > 1) {
    roles.feature_groups = c.dims.batch_groups;
  } else {
    roles.batch_groups = c.dims.feature_groups;
  }
  Windows over = c.windows;
  std::swap(over.strides, over.dilation);
  for (std::size_t i = 0; i < over.sizes.size(); ++i) {
    const std::int64_t in = extent(c.size(c.lhs, c.dims.lhs[i + 2]), c.windows.base_dilation[i]);
    const std::int64_t out = extent(c.size(c.g, c.dims.out[i + 2]), c.windows.strides[i]);
    over.high[i] = out + extent(c.windows.sizes[i], c.windows.dilation[i]) - 1 - in - over.low[i];
  }
  return c.convolve(c.lhs, c.g, roles, over);
}

Attributes window_attributes(const Windows& windows) {
  return Attributes{{"window", windows.sizes},      {"strides", windows.strides},
                    {"low", windows.low},           {"high", windows.high},
                    {"dilation", windows.dilation}, {"base_dilation", windows.base_dilation}};
}

std::vector<ValueId> window_extremum_derivative(const DerivativeInput& input, bool wants_largest) {
  Attributes attributes = input.attributes;
  attributes.set("largest", std::int64_t{wants_largest});
  return {input.builder.emit(Op::select_and_scatter_add, {input.operands[0], input.cotangents[0]},
                             std::move(attributes))};
}

}  // namespace

std::vector<ValueId> convolution_derivative(const DerivativeInput& input) {
  const Convolution c(input);
  std::vector<ValueId> out(2, ValueId::none);
  if (input.wants(0)) out[0] = array_cotangent(c);
  if (input.wants(1)) out[1] = kernel_cotangent(c);
  return out;
}

std::vector<ValueId> reduce_window_sum_derivative(const DerivativeInput& input) {
  // Every element gets the cotangents of the windows it lies in: windows of the same size over the
  // cotangents, which stand `strides` apart.
  Builder& b = input.builder;
  const Shape shape = b.type(input.operands[0]).shape;
  const Shape counts = b.type(input.cotangents[0]).shape;
  const Windows forward = reduction_windows(input.attributes);
  Windows over = forward;
  std::swap(over.strides, over.base_dilation);
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t window = extent(forward.sizes[dim], forward.dilation[dim]);
    over.low[dim] = window - forward.low[dim] - 1;
    over.high[dim] = extent(shape[dim], forward.base_dilation[dim]) + window - 1 -
                     extent(counts[dim], forward.strides[dim]) - over.low[dim];
  }
  return {b.emit(Op::reduce_window_sum, {input.cotangents[0]}, window_attributes(over))};
}

std::vector<ValueId> reduce_window_max_derivative(const DerivativeInput& input) {
  return window_extremum_derivative(input, true);
}

std::vector<ValueId> reduce_window_min_derivative(const DerivativeInput& input) {
  return window_extremum_derivative(input, false);
}

std::vector<ValueId> dropout_derivative(const DerivativeInput& input) {
  return {
      input.builder.emit(Op::dropout, {input.cotangents[0], input.operands[1]}, input.attributes),
      ValueId::none};
}

std::vector<ValueId> reduce_precision_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::reduce_precision, {input.cotangents[0]}, input.attributes)};
}

std::vector<ValueId> optimization_barrier_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::optimization_barrier, {input.cotangents[0]})};
}

}  // namespace shard
