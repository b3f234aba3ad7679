// Tiles to axes: the device order of a tiled sharding is a product of digits; cut where the mesh's
// axes and the tiles begin, each digit is an axis or a sub-axis of one tile.

#include <algorithm>
#include <utility>

#include "shard/axes.h"
#include "shard/sharding_text.h"

namespace shard {
namespace {

/// Part of the position of a device: `position / stride % size`.
struct PositionDigit {
  std::int64_t stride = 1;
  std::int64_t size = 1;
};
using Digits = std::vector<PositionDigit>;

/// The devices' order as digits of their positions, major first.
Digits digits_of(const HloSharding& tiles) {
  std::vector<std::int64_t> strides(tiles.reshape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * tiles.reshape[i];
  Digits digits;
  for (const int at : tiles.perm) {
    const auto dim = static_cast<std::size_t>(at);
    digits.push_back({strides[dim], tiles.reshape[dim]});
  }
  return digits;
}

/// Takes a digit of `size` off the front, the major end; false when no cut gives it.
bool take(Digits& digits, std::int64_t size, Digits& taken) {
  while (size > 1) {
    if (digits.empty()) return false;
    PositionDigit& first = digits.front();
    if (size % first.size == 0) {
      taken.push_back(first);
      size /= first.size;
      digits.erase(digits.begin());
      continue;
    }
    if (first.size % size != 0) return false;
    const std::int64_t rest = first.size / size;
    taken.push_back({first.stride * rest, size});
    first.size = rest;
    size = 1;
  }
  return true;
}

/// The axes that a digit of the position is, major first; false when it cuts one unevenly.
bool add_axes(const Mesh& mesh, const PositionDigit& digit, Axes& axes) {
  std::int64_t below = mesh.device_count();
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    const std::int64_t above = below;  // positions one step before the axis covers
    below /= mesh.size(axis);
    const std::int64_t low = std::max(below, digit.stride);
    const std::int64_t high = std::min(above, digit.stride * digit.size);
    if (low >= high) continue;
    if (above % high != 0 || high % low != 0 || low % below != 0) return false;
    const AxisRef next{axis, above / high, high / low};
    if (!axes.empty() && joins(axes.back(), next)) {
      axes.back().size *= next.size;
    } else {
      axes.push_back(next);
    }
  }
  return true;
}

std::optional<Axes> axes_of(const Mesh& mesh, const Digits& digits) {
  Axes axes;
  std::int64_t size = 1;
  for (const PositionDigit& digit : digits) {
    if (!add_axes(mesh, digit, axes)) return std::nullopt;
    size *= digit.size;
  }
  if (product(axes) != size) return std::nullopt;
  return axes;
}

Sharding word_sharding(const Mesh& mesh, const HloSharding& tiles, int rank) {
  Sharding sharding = replicated_sharding(rank);
  const bool is_sum = !tiles.groups.empty() && tiles.groups.front() == TileGroup::unreduced;
  for (int axis = 0; is_sum && axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) > 1) sharding.unreduced.push_back(mesh.full(axis));
  }
  return sharding;
}

}  // namespace

std::optional<Sharding> sharding_on(const Mesh& mesh, const HloSharding& tiles, int rank) {
  if (tiles.dims.empty()) return word_sharding(mesh, tiles, rank);
  Sharding sharding = replicated_sharding(rank);
  Digits rest = digits_of(tiles);
  for (std::size_t dim = 0; dim < tiles.dims.size(); ++dim) {
    Digits taken;
    if (!take(rest, tiles.dims[dim], taken)) return std::nullopt;
    std::optional<Axes> axes = axes_of(mesh, taken);
    if (!axes) return std::nullopt;
    const auto group = static_cast<std::ptrdiff_t>(dim) - rank;
    if (group < 0) {
      sharding.dims[dim].axes = std::move(*axes);
    } else if (tiles.groups[static_cast<std::size_t>(group)] == TileGroup::unreduced) {
      std::sort(axes->begin(), axes->end());
      sharding.unreduced = std::move(*axes);
    }
  }
  return sharding;
}

}  // namespace shard
