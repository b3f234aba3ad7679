#include "ops/window_dims.h"

namespace shard {

std::int64_t Windows::count(std::size_t dim, std::int64_t size) const {
  const std::int64_t spread = size == 0 ? 0 : (size - 1) * base_dilation[dim] + 1;
  const std::int64_t padded = low[dim] + spread + high[dim];
  const std::int64_t reach = (sizes[dim] - 1) * dilation[dim] + 1;
  return padded < reach ? 0 : (padded - reach) / strides[dim] + 1;
}

std::int64_t Windows::at(std::size_t dim, std::int64_t o, std::int64_t k, std::int64_t size) const {
  const std::int64_t position = o * strides[dim] + k * dilation[dim] - low[dim];
  if (position < 0 || position % base_dilation[dim] != 0) return -1;
  const std::int64_t element = position / base_dilation[dim];
  return element < size ? element : -1;
}

Windows reduction_windows(const Attributes& attributes) {
  return {attributes.integers("window"),   attributes.integers("strides"),
          attributes.integers("low"),      attributes.integers("high"),
          attributes.integers("dilation"), attributes.integers("base_dilation")};
}

ConvolutionDims convolution_dims(const Attributes& attributes) {
  return {attributes.integers("lhs_dims"), attributes.integers("rhs_dims"),
          attributes.integers("out_dims"), attributes.integer("feature_groups"),
          attributes.integer("batch_groups")};
}

Windows convolution_windows(const Attributes& attributes, const Shape& rhs) {
  std::vector<std::int64_t> sizes;
  const std::vector<std::int64_t>& dims = attributes.integers("rhs_dims");
  for (std::size_t i = 2; i < dims.size(); ++i) {
    sizes.push_back(rhs[static_cast<std::size_t>(dims[i])]);
  }
  return {std::move(sizes),
          attributes.integers("strides"),
          attributes.integers("low"),
          attributes.integers("high"),
          attributes.integers("rhs_dilation"),
          attributes.integers("lhs_dilation")};
}

Attributes convolution_attributes(const ConvolutionDims& dims, const Windows& windows) {
  return Attributes{{"strides", windows.strides},
                    {"low", windows.low},
                    {"high", windows.high},
                    {"lhs_dilation", windows.base_dilation},
                    {"rhs_dilation", windows.dilation},
                    {"lhs_dims", dims.lhs},
                    {"rhs_dims", dims.rhs},
                    {"out_dims", dims.out},
                    {"feature_groups", dims.feature_groups},
                    {"batch_groups", dims.batch_groups}};
}

}  // namespace shard
