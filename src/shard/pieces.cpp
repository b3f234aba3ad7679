#include "shard/pieces.h"

#include <algorithm>

#include "base/check.h"
#include "shard/axis_atoms.h"

namespace shard {

bool has_pieces(const Sharding& sharding) { return product(sharding.unreduced) == 1; }

std::vector<PieceRange> piece_at(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                                 std::int64_t position) {
  SHARD_CHECK(has_pieces(sharding), "an unreduced value has terms, not pieces");
  const Shape local = local_shape(shape, sharding);
  std::vector<PieceRange> ranges;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const Axes& axes = sharding.dims[dim].axes;
    const auto within = [&](std::int64_t at) {
      return shape[dim] == unknown_size ? at : std::min(at, shape[dim]);
    };
    const std::int64_t start = within(mesh.linear_coordinate(position, axes) * local[dim]);
    ranges.push_back({start, within(start + local[dim]), product(axes) == 1});
  }
  return ranges;
}

std::int64_t replica_id(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                        std::int64_t position) {
  Sharding telling = sharding;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) telling.dims[dim].axes.clear();
  }
  const Axes used = used_axes(telling);
  Axes unused = mesh_atoms(mesh, used);
  std::erase_if(unused, [&](const AxisRef& atom) {
    return std::any_of(used.begin(), used.end(),
                       [&](const AxisRef& axis) { return contains(axis, atom); });
  });
  return mesh.linear_coordinate(position, unused);
}

bool is_fully_replicated(const Mesh& mesh, const Sharding& sharding) {
  if (mesh.device_count() == 1) return true;
  return sharding.unreduced.empty() && product(used_axes(sharding)) == 1;
}

}  // namespace shard
