// Shape rules of convolutions and of reductions over windows.

#include "ops/shape_mistakes.h"
#include "ops/shape_rules.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

std::string windows_mistake(const Windows& windows, int rank) {
  const std::pair<const Dims*, const char*> lists[] = {
      {&windows.sizes, "window"},      {&windows.strides, "strides"},
      {&windows.low, "low"},           {&windows.high, "high"},
      {&windows.dilation, "dilation"}, {&windows.base_dilation, "base_dilation"}};
  for (const auto& [list, what] : lists) {
    std::string mistake = length_mistake(*list, rank, what);
    if (!mistake.empty()) return mistake;
    const bool may_be_negative = list == &windows.low || list == &windows.high;
    for (const std::int64_t number : *list) {
      if (number < 1 && !may_be_negative) {
        return std::string(what) + " has " + std::to_string(number) + ", which is not positive";
      }
    }
  }
  return "";
}

std::int64_t size_of(const TensorType& type, std::int64_t dim) {
  return type.shape[static_cast<std::size_t>(dim)];
}

std::string convolution_dims_mistake(const ConvolutionDims& dims, Types operands) {
  const int rank = operands[0].rank();
  if (rank < 2 || operands[1].rank() != rank) {
    return to_string(operands[0]) + " is not convolved with " + to_string(operands[1]);
  }
  for (const Dims* list : {&dims.lhs, &dims.rhs, &dims.out}) {
    std::string mistake = length_mistake(*list, rank, "an order of dims");
    if (mistake.empty()) mistake = position_mistake(*list, rank);
    if (!mistake.empty()) return mistake;
  }
  return "";
}

std::string groups_mistake(const ConvolutionDims& dims, Types operands) {
  const std::int64_t in = size_of(operands[0], dims.lhs[1]),
                     part = size_of(operands[1], dims.rhs[1]);
  if (dims.feature_groups < 1 || in != part * dims.feature_groups) {
    return std::to_string(in) + " features are not " + std::to_string(dims.feature_groups) +
           " groups of " + std::to_string(part);
  }
  const std::int64_t batch = size_of(operands[0], dims.lhs[0]),
                     out = size_of(operands[1], dims.rhs[0]);
  if (dims.batch_groups < 1 || batch % dims.batch_groups != 0) {
    return std::to_string(batch) + " examples are not " + std::to_string(dims.batch_groups) +
           " groups";
  }
  if (out % (dims.feature_groups * dims.batch_groups) != 0) {
    return std::to_string(out) + " output features are not " +
           std::to_string(dims.feature_groups * dims.batch_groups) + " groups";
  }
  return "";
}

}  // namespace

ShapeResult convolution_shape(Types operands, const Attributes& attributes) {
  const ConvolutionDims dims = convolution_dims(attributes);
  if (operands[0].dtype != operands[1].dtype) {
    return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " +
           dtype_word(operands[1].dtype);
  }
  std::string mistake = complex_mistake(operands);
  if (mistake.empty()) mistake = convolution_dims_mistake(dims, operands);
  if (!mistake.empty()) return mistake;
  const Windows windows = convolution_windows(attributes, operands[1].shape);
  mistake = windows_mistake(windows, static_cast<int>(dims.spatial_count()));
  if (mistake.empty()) mistake = groups_mistake(dims, operands);
  if (!mistake.empty()) return mistake;
  TensorType result{operands[0].dtype, Shape(operands[0].shape.size())};
  const auto set = [&](std::size_t role, std::int64_t size) {
    result.shape[static_cast<std::size_t>(dims.out[role])] = size;
  };
  set(0, size_of(operands[0], dims.lhs[0]) / dims.batch_groups);
  set(1, size_of(operands[1], dims.rhs[0]));
  for (std::size_t i = 0; i < dims.spatial_count(); ++i) {
    set(i + 2, windows.count(i, size_of(operands[0], dims.lhs[i + 2])));
  }
  return one_result(std::move(result));
}

ShapeResult reduce_window_shape(Types operands, const Attributes& attributes) {
  const Windows windows = reduction_windows(attributes);
  if (operands[0].dtype == DType::boolean) return "needs numbers, not bool";
  std::string mistake = complex_mistake(operands);
  if (mistake.empty()) mistake = windows_mistake(windows, operands[0].rank());
  if (!mistake.empty()) return mistake;
  TensorType result = operands[0];
  for (std::size_t dim = 0; dim < result.shape.size(); ++dim) {
    result.shape[dim] = windows.count(dim, result.shape[dim]);
  }
  return one_result(std::move(result));
}

ShapeResult select_and_scatter_add_shape(Types operands, const Attributes& attributes) {
  ShapeResult windows = reduce_window_shape(operands.first(1), attributes);
  if (std::holds_alternative<std::string>(windows)) return windows;
  const TensorType& expected = std::get<std::vector<TensorType>>(windows)[0];
  if (operands[1] != expected) {
    return "the source is " + to_string(operands[1]) + ", the windows are " + to_string(expected);
  }
  return one_result(operands[0]);
}

}  // namespace shard
