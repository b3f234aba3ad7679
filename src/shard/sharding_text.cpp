#include "shard/sharding_text.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/units.h"
#include "config/sdy_spec.h"
#include "shard/axes.h"

namespace shard {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

/// The axes of a Shardy text on the mesh.
class AxisFinder {
 public:
  explicit AxisFinder(const Mesh& mesh) : mesh_(mesh) {}

  Axes find(const std::vector<SdyAxis>& written) {
    Axes axes;
    for (const SdyAxis& one : written) {
      const AxisRef axis = find(one);
      if (axis.size > 1) axes.push_back(axis);
    }
    return axes;
  }

 private:
  AxisRef find(const SdyAxis& written) {
    const std::optional<int> found = mesh_.find(MeshAxis(written.name));
    if (!found) {
      throw Error("unknown-mesh-axis", written.at, "the mesh has no axis '" + written.name + "'",
                  did_you_mean(written.name, axis_names(mesh_), "the axes"));
    }
    AxisRef axis = mesh_.full(*found);
    if (written.size > 0) {
      axis.pre_size = written.pre_size;
      axis.size = written.size;
      check_part(axis, written);
    }
    check_free(axis, written.at);
    used_.push_back(axis);
    return axis;
  }

  void check_part(const AxisRef& axis, const SdyAxis& written) const {
    const std::int64_t size = mesh_.size(axis.axis);
    const bool fits = axis.pre_size <= size && axis.size <= size / axis.pre_size &&
                      size % (axis.pre_size * axis.size) == 0;
    if (fits) return;
    throw Error("bad-sub-axis", written.at,
                "axis '" + written.name + "' of size " + std::to_string(size) + " has no part (" +
                    std::to_string(axis.pre_size) + ")" + std::to_string(axis.size),
                "x:(a)b is the middle of x seen as a times b times the rest");
  }

  void check_free(const AxisRef& axis, const Location& at) const {
    const bool is_used = std::any_of(used_.begin(), used_.end(),
                                     [&](const AxisRef& one) { return overlaps(one, axis); });
    if (!is_used || axis.size == 1) return;
    throw Error("duplicate-mesh-axis", at, "'" + to_string(mesh_, axis) + "' is used twice",
                "an axis can split one dim of an array");
  }

  const Mesh& mesh_;
  Axes used_;
};

Sharding placed(const Mesh& mesh, const SdySpec& spec) {
  AxisFinder finder(mesh);
  Sharding sharding;
  for (const SdyDim& dim : spec.dims) sharding.dims.push_back({finder.find(dim.axes), dim.is_open});
  sharding.replicated = finder.find(spec.replicated);
  sharding.unreduced = finder.find(spec.unreduced);
  return sharding;
}

[[noreturn]] void refuse_rank(std::size_t dims, int rank, const Location& at) {
  throw Error(
      "rank-mismatch", at,
      "the sharding has " + std::to_string(dims) + " dims, the array " + std::to_string(rank));
}

void check_device_count(const Mesh& mesh, const HloSharding& tiles, const Location& at) {
  std::int64_t devices = 1;
  for (const std::int64_t size : tiles.dims) devices *= size;
  if (tiles.dims.empty() || devices == mesh.device_count()) return;
  throw Error("mesh-size", at,
              "the sharding is for " + with_commas(devices) + " devices, the mesh " +
                  to_string(mesh) + " has " + with_commas(mesh.device_count()));
}

Sharding read_tiles(const Mesh& mesh, std::string_view text, int rank, const Location& at) {
  std::string why = "tiles that programs make by hand name no axes";
  const std::optional<HloSharding> tiles = read_hlo_sharding(text, &why);
  const bool is_manual = tiles && std::find(tiles->groups.begin(), tiles->groups.end(),
                                            TileGroup::manual) != tiles->groups.end();
  if (!tiles || is_manual) {
    throw Error("spec-syntax", at, "'" + std::string(text) + "' is not a tiled sharding: " + why,
                "XLA writes {devices=[2,4]<=[8]}, {devices=[4,1,2]<=[2,4]T(1,0) "
                "last_tile_dim_replicate} or {replicated}");
  }
  const std::size_t dims = tiles->dims.size() - (tiles->dims.empty() ? 0 : tiles->groups.size());
  if (!tiles->dims.empty() && dims != static_cast<std::size_t>(rank)) refuse_rank(dims, rank, at);
  check_device_count(mesh, *tiles, at);
  std::optional<Sharding> sharding = sharding_on(mesh, *tiles, rank);
  if (sharding) return std::move(*sharding);
  throw Error("mesh-mismatch", at,
              "no axes of the mesh " + to_string(mesh) + " split an array as " + to_string(*tiles),
              "use a mesh whose axes are the factors of the tiles");
}

}  // namespace

bool is_sharding_text(std::string_view text) {
  return is_sdy_text(text) || trimmed(text).starts_with("{");
}

Sharding read_sharding_text(const Mesh& mesh, std::string_view text, int rank, const Location& at) {
  const std::string_view body = trimmed(text);
  if (body.starts_with("{")) return read_tiles(mesh, body, rank, at);
  const SdySpec spec = read_sdy_spec(text, at);
  if (spec.dims.size() != static_cast<std::size_t>(rank)) refuse_rank(spec.dims.size(), rank, at);
  return placed(mesh, spec);
}

}  // namespace shard
