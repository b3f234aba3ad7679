#include "shard/boundary.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "shard/axes.h"

namespace shard {
namespace {

/// Longest prefix that divides the dim evenly, the next axis cut to the part that still divides.
Axes even_prefix(const Axes& axes, std::int64_t size) {
  Axes kept;
  for (const AxisRef& axis : axes) {
    const std::int64_t common = std::gcd(size, axis.size);
    if (common > 1) kept.push_back(leading_part(axis, common));
    if (common < axis.size) break;
    size /= common;
  }
  return kept;
}

}  // namespace

Sharding at_boundary(const Mesh& mesh, Sharding sharding, const Shape& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    Axes& axes = sharding.dims[dim].axes;
    axes = even_prefix(axes, shape[dim]);
    const auto part = std::find_if(axes.begin(), axes.end(),
                                   [&](const AxisRef& axis) { return !mesh.is_full(axis); });
    if (sharding.dims[dim].is_open) axes.erase(part, axes.end());
  }
  return closed(std::move(sharding));
}

}  // namespace shard
