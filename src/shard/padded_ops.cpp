#include "shard/padded_ops.h"

#include <algorithm>
#include <array>

#include "ops/neutral.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Numbers = std::vector<std::int64_t>;

bool always_borne(const PaddedNode&, std::size_t, std::size_t) { return true; }

std::int64_t size_at(const TensorType& type, std::int64_t dim) {
  return type.shape[static_cast<std::size_t>(dim)];
}

// Lines: padding stands behind all elements.

bool is_line(const PaddedNode& node, std::size_t dim) {
  return node.node.attributes.integer("dim") == static_cast<std::int64_t>(dim);
}

/// Elements so far do not see what comes after them; from the end they do.
template <Reduction reduction>
std::optional<double> ignored_so_far(const PaddedNode& node, std::size_t operand, std::size_t dim) {
  if (!is_line(node, dim) || node.node.attributes.integer("reverse") == 0) return std::nullopt;
  return neutral_of(reduction, node.operands[operand].dtype);
}

/// From the end, h = a * 0 + b with b = 0 is 0 as before the first element.
std::optional<double> ignored_by_recurrence(const PaddedNode& node, std::size_t, std::size_t dim) {
  if (!is_line(node, dim) || node.node.attributes.integer("reverse") == 0) return std::nullopt;
  return 0;
}

/// Equal numbers that are real come first.
template <Reduction reduction>
std::optional<double> ignored_by_extremum(const PaddedNode& node, std::size_t operand,
                                          std::size_t dim) {
  if (!is_line(node, dim)) return std::nullopt;
  return neutral_of(reduction, node.operands[operand].dtype);
}

bool has_least(const PaddedNode& node, std::size_t operand, std::size_t) {
  return node.operands[operand].dtype != DType::f8_e4m3fn;
}

std::optional<double> ignored_by_top_k(const PaddedNode& node, std::size_t operand,
                                       std::size_t dim) {
  if (dim + 1 != node.operands[operand].shape.size()) return std::nullopt;
  return neutral_of(Reduction::max, node.operands[operand].dtype);
}

/// The best of the padded array begin with those of the array.
Attributes padded_top_k(const PaddedNode& node, std::span<const TensorType>,
                        std::span<const TensorType> results) {
  Attributes attributes = node.node.attributes;
  attributes.set("k", results[0].shape.back());
  return attributes;
}

// Windows: padding before and behind is the op's own, and grows so that there are as many windows
// as the padded result has elements.

/// The padding behind with which `count` windows lie over `size` elements.
std::int64_t high_for(const Windows& windows, std::size_t dim, std::int64_t size,
                      std::int64_t count) {
  const std::int64_t reach = (windows.sizes[dim] - 1) * windows.dilation[dim] + 1;
  const std::int64_t spread = (size - 1) * windows.base_dilation[dim] + 1;
  return (count - 1) * windows.strides[dim] + reach - windows.low[dim] - spread;
}

template <Reduction reduction>
std::optional<double> ignored_by_windows(const PaddedNode& node, std::size_t operand,
                                         std::size_t dim) {
  const Windows windows = reduction_windows(node.node.attributes);
  if (windows.sizes[dim] == 1 && windows.strides[dim] == 1) return std::nullopt;
  return neutral_of(reduction, node.operands[operand].dtype);
}

Attributes padded_reduction(const PaddedNode& node, std::span<const TensorType> operands,
                            std::span<const TensorType> results) {
  Attributes attributes = node.node.attributes;
  const Windows windows = reduction_windows(attributes);
  Numbers high = windows.high;
  for (std::size_t dim = 0; dim < high.size(); ++dim) {
    if (operands[0].shape[dim] == node.operands[0].shape[dim] &&
        results[0].shape[dim] == node.results[0].shape[dim]) {
      continue;
    }
    high[dim] = high_for(windows, dim, operands[0].shape[dim], results[0].shape[dim]);
  }
  attributes.set("high", std::move(high));
  return attributes;
}

/// The dim is a spatial one of the array or of the kernel.
bool is_spatial(const PaddedNode& node, std::size_t operand, std::size_t dim) {
  const ConvolutionDims dims = convolution_dims(node.node.attributes);
  const Numbers& roles = operand == 0 ? dims.lhs : dims.rhs;
  return std::find(roles.begin() + 2, roles.end(), static_cast<std::int64_t>(dim)) != roles.end();
}

std::optional<double> ignored_by_convolution(const PaddedNode& node, std::size_t operand,
                                             std::size_t dim) {
  if (!is_spatial(node, operand, dim)) return std::nullopt;
  return 0;
}

Attributes padded_convolution(const PaddedNode& node, std::span<const TensorType> operands,
                              std::span<const TensorType> results) {
  Attributes attributes = node.node.attributes;
  const ConvolutionDims dims = convolution_dims(attributes);
  const Windows windows = convolution_windows(attributes, operands[1].shape);
  Numbers high = windows.high;
  for (std::size_t i = 0; i < dims.spatial_count(); ++i) {
    const std::int64_t size = size_at(operands[0], dims.lhs[i + 2]);
    const std::int64_t count = size_at(results[0], dims.out[i + 2]);
    const bool is_same = size == size_at(node.operands[0], dims.lhs[i + 2]) &&
                         windows.sizes[i] == size_at(node.operands[1], dims.rhs[i + 2]) &&
                         count == size_at(node.results[0], dims.out[i + 2]);
    if (!is_same) high[i] = high_for(windows, i, size, count);
  }
  attributes.set("high", std::move(high));
  return attributes;
}

constexpr std::array<PaddedOp, 13> padded_ops = {{
    {Op::cumsum, always_borne, ignored_so_far<Reduction::sum>},
    {Op::cumprod, always_borne, ignored_so_far<Reduction::prod>},
    {Op::cummax, has_least, ignored_so_far<Reduction::max>},
    {Op::cummin, has_least, ignored_so_far<Reduction::min>},
    {Op::cumlogsumexp, has_least, ignored_so_far<Reduction::max>},
    {Op::linear_recurrence, always_borne, ignored_by_recurrence},
    {Op::argmax, has_least, ignored_by_extremum<Reduction::max>},
    {Op::argmin, has_least, ignored_by_extremum<Reduction::min>},
    {Op::top_k, has_least, ignored_by_top_k, padded_top_k},
    {Op::convolution, is_spatial, ignored_by_convolution, padded_convolution},
    {Op::reduce_window_sum, always_borne, ignored_by_windows<Reduction::sum>, padded_reduction},
    {Op::reduce_window_max, has_least, ignored_by_windows<Reduction::max>, padded_reduction},
    {Op::reduce_window_min, has_least, ignored_by_windows<Reduction::min>, padded_reduction},
}};

}  // namespace

const PaddedOp* padded_op(Op op) {
  for (const std::span<const PaddedOp> list :
       {std::span<const PaddedOp>(padded_ops), padded_moves()}) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const PaddedOp& row) { return row.op == op; });
    if (found != list.end()) return &*found;
  }
  return nullptr;
}

}  // namespace shard
