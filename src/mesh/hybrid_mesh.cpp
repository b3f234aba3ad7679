// The mesh of several slices, or processes, joined by a slower network: a block per granule.

#include <algorithm>
#include <map>

#include "mesh/device_mesh.h"
#include "mesh/mesh_sizes.h"

namespace shard {
namespace {

std::int64_t granule_key(const Device& device, bool process_is_granule, const Location& at) {
  if (process_is_granule) return device.process;
  if (device.slice) return *device.slice;
  throw Error("no-slice-index", at,
              "device " + std::to_string(device.id) + " of kind '" + device.kind +
                  "' does not have attribute slice_index, so the devices form no slices",
              "let processes stand for slices (process_is_granule)");
}

std::vector<std::vector<Device>> granules_of(const std::vector<Device>& devices,
                                             const HybridMeshOptions& options, const Location& at) {
  std::vector<std::vector<Device>> granules;
  std::vector<std::int64_t> keys;
  std::map<std::int64_t, std::size_t> place;
  for (const Device& device : devices) {
    const std::int64_t key = granule_key(device, options.process_is_granule, at);
    const auto [found, is_new] = place.emplace(key, granules.size());
    if (is_new) granules.emplace_back();
    granules[found->second].push_back(device);
  }
  if (!options.should_sort_granules_by_key) return granules;
  std::vector<std::vector<Device>> sorted;
  for (const auto& [key, at_place] : place) sorted.push_back(std::move(granules[at_place]));
  return sorted;
}

void check_granule_count(const Shape& dcn_sizes, std::size_t granules, const MeshOrigin& origin) {
  const std::optional<std::int64_t> product = size_product(dcn_sizes);
  const bool is_positive =
      std::all_of(dcn_sizes.begin(), dcn_sizes.end(), [](std::int64_t size) { return size > 0; });
  if (product == static_cast<std::int64_t>(granules) && is_positive) return;
  throw Error("mesh-size", origin.at,
              "Number of slices (" + std::to_string(granules) +
                  ") must equal the product of the sizes across slices " + product_text(dcn_sizes),
              "the sizes across slices have to multiply to " + std::to_string(granules));
}

Shape padded_in_front(const Shape& sizes, std::size_t rank) {
  Shape padded(rank - sizes.size(), 1);
  padded.insert(padded.end(), sizes.begin(), sizes.end());
  return padded;
}

/// Steps a row-major index; the caller knows when it is through.
void advance(Shape& index, const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return;
    index[axis] = 0;
  }
}

/// Cell = the block at index / inner, in it the cell at index % inner.
DeviceMesh joined_blocks(const std::vector<DeviceMesh>& blocks, const Shape& outer,
                         const Shape& inner) {
  DeviceMesh mesh;
  for (std::size_t k = 0; k < outer.size(); ++k) mesh.shape.push_back(outer[k] * inner[k]);
  const std::size_t cells = blocks.size() * blocks.front().ids.size();
  Shape index(mesh.shape.size(), 0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::int64_t block = 0;
    std::int64_t inside = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
      block = block * outer[k] + index[k] / inner[k];
      inside = inside * inner[k] + index[k] % inner[k];
    }
    mesh.ids.push_back(
        blocks[static_cast<std::size_t>(block)].ids[static_cast<std::size_t>(inside)]);
    advance(index, mesh.shape);
  }
  return mesh;
}

}  // namespace

DeviceMesh create_hybrid_device_mesh(const Shape& ici_sizes, const Shape& dcn_sizes,
                                     const std::vector<Device>& devices,
                                     const HybridMeshOptions& options, const MeshOrigin& origin) {
  const auto granules = granules_of(devices, options, origin.at);
  check_granule_count(dcn_sizes, granules.size(), origin);
  DeviceMeshOptions block_options;
  block_options.allow_split_physical_axes = options.allow_split_physical_axes;
  std::vector<DeviceMesh> blocks;
  blocks.reserve(granules.size());
  for (const std::vector<Device>& granule : granules) {
    blocks.push_back(create_device_mesh(ici_sizes, granule, block_options, origin));
  }
  const std::size_t rank = std::max(ici_sizes.size(), dcn_sizes.size());
  return joined_blocks(blocks, padded_in_front(dcn_sizes, rank), padded_in_front(ici_sizes, rank));
}

}  // namespace shard
