#include "shard/nested_pieces.h"

#include <algorithm>

#include "base/check.h"

namespace shard {
namespace {

std::int64_t rounded_up(std::int64_t size, std::int64_t parts) {
  return size / parts + (size % parts == 0 ? 0 : 1);
}

}  // namespace

PieceRange nested_range(std::int64_t size, const Axes& axes, std::int64_t part) {
  std::int64_t below = product(axes);
  PieceRange range{0, size, below == 1};
  for (const AxisRef& axis : axes) {
    below /= axis.size;
    const std::int64_t step = rounded_up(range.stop - range.start, axis.size);
    const std::int64_t start = range.start + part / below % axis.size * step;
    range.start = std::min(start, range.stop);
    range.stop = std::min(start + step, range.stop);
  }
  return range;
}

std::vector<PieceRange> nested_piece_at(const Mesh& mesh, const Sharding& sharding,
                                        const Shape& shape, std::int64_t position) {
  SHARD_CHECK(has_pieces(sharding), "an unreduced value has terms, not pieces");
  SHARD_CHECK(shape.size() == sharding.dims.size(), "a sharding has one entry per dim");
  std::vector<PieceRange> ranges;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const Axes& axes = sharding.dims[dim].axes;
    ranges.push_back(nested_range(shape[dim], axes, mesh.linear_coordinate(position, axes)));
  }
  return ranges;
}

Shape nested_local_shape(const Shape& shape, const Sharding& sharding) {
  SHARD_CHECK(shape.size() == sharding.dims.size(), "a sharding has one entry per dim");
  Shape local = shape;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    for (const AxisRef& axis : sharding.dims[dim].axes)
      local[dim] = rounded_up(local[dim], axis.size);
  }
  return local;
}

}  // namespace shard
