#pragma once
// Attributes of convolutions and of reductions over windows.

#include <cstdint>
#include <vector>

#include "base/tensor_type.h"
#include "ops/attributes.h"

namespace shard {

/// Windows along each dim: element k of window o lies at o * stride + k * dilation - low of the
/// array, whose elements stand `base_dilation` apart. Lists have an entry per dim.
struct Windows {
  std::vector<std::int64_t> sizes, strides, low, high, dilation, base_dilation;

  /// Windows that fit along dim `dim` of size `size`.
  std::int64_t count(std::size_t dim, std::int64_t size) const;
  /// Element `k` of window `o` in the array, or -1 where there is none (padding, a gap).
  std::int64_t at(std::size_t dim, std::int64_t o, std::int64_t k, std::int64_t size) const;
};

/// Of `reduce_window_*`: attributes window, strides, low, high, dilation, base_dilation.
Windows reduction_windows(const Attributes& attributes);

/// Which dim does what. Spatial dims are paired by position.
struct ConvolutionDims {
  std::vector<std::int64_t> lhs;  ///< batch, feature, spatial...
  std::vector<std::int64_t> rhs;  ///< output feature, input feature, spatial...
  std::vector<std::int64_t> out;  ///< batch, feature, spatial...
  std::int64_t feature_groups = 1;
  std::int64_t batch_groups = 1;

  std::size_t spatial_count() const { return lhs.size() - 2; }
};

/// Attributes lhs_dims, rhs_dims, out_dims, feature_groups, batch_groups.
ConvolutionDims convolution_dims(const Attributes& attributes);
/// Attributes strides, low, high, rhs_dilation, lhs_dilation over the spatial dims; the sizes are
/// those of `rhs`.
Windows convolution_windows(const Attributes& attributes, const Shape& rhs);
Attributes convolution_attributes(const ConvolutionDims& dims, const Windows& windows);

}  // namespace shard
