#include "mesh/device_mesh.h"

#include <algorithm>
#include <set>

#include "mesh/mesh_sizes.h"
#include "mesh/physical_mesh.h"
#include "mesh/ring_order.h"
#include "mesh/torus.h"

namespace shard {
namespace {

std::string count_text(const std::vector<Device>& devices) {
  return "the number of devices (" + std::to_string(devices.size()) + ")";
}

void check_positive(const Shape& sizes, const MeshOrigin& origin) {
  const auto negative =
      std::count_if(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
  if (negative > 1) {
    throw Error("bad-mesh-size", origin.at,
                "the mesh sizes " + tuple_text(sizes) + " hold " + std::to_string(negative) +
                    " negative numbers: a mesh can only specify one unknown dimension, written -1",
                "a size is 1 or more");
  }
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] > 0) continue;
    throw Error("bad-mesh-size", origin.at,
                "the size of mesh " + axis_text(origin, axis) + " is " +
                    std::to_string(sizes[axis]) + ", expected 1 or more");
  }
}

void check_count(const Shape& sizes, const std::vector<Device>& devices, const MeshOrigin& origin) {
  if (size_product(sizes) != static_cast<std::int64_t>(devices.size())) {
    throw Error(
        "mesh-size", origin.at,
        count_text(devices) + " must equal the product of the mesh sizes " + product_text(sizes),
        "the sizes have to multiply to " + std::to_string(devices.size()));
  }
  check_positive(sizes, origin);
}

std::vector<std::size_t> torus_order(const Shape& sizes, const std::vector<Device>& devices,
                                     const DeviceMeshOptions& options, const MeshOrigin& origin) {
  PhysicalMesh physical = physical_mesh(devices, origin.at);
  if (options.contiguous_submeshes) {
    physical = reordered_for_submeshes(physical, sizes, origin.at);
  }
  const TorusPlacement placement =
      place_on_torus(physical.torus, sizes, options.allow_split_physical_axes, origin);
  std::vector<std::size_t> order;
  order.reserve(placement.positions.size());
  for (const std::int64_t position : placement.positions) {
    order.push_back(physical.cells[static_cast<std::size_t>(position)]);
  }
  return order;
}

DeviceMesh arranged(const Shape& sizes, const std::vector<Device>& devices,
                    const std::vector<std::size_t>& order) {
  DeviceMesh mesh{sizes, {}};
  mesh.ids.reserve(order.size());
  for (const std::size_t position : order) mesh.ids.push_back(devices[position].id);
  return mesh;
}

DeviceMesh in_list_order(const Shape& sizes, const std::vector<Device>& devices) {
  DeviceMesh mesh{sizes, {}};
  mesh.ids.reserve(devices.size());
  for (const Device& device : devices) mesh.ids.push_back(device.id);
  if (devices.back().platform == "gpu") std::sort(mesh.ids.begin(), mesh.ids.end());
  return mesh;
}

/// The first devices, as many as the mesh has places.
std::vector<Device> needed_devices(const Shape& sizes, const std::vector<Device>& devices,
                                   const MeshOrigin& origin) {
  const std::optional<std::int64_t> needed = size_product(sizes);
  if (!needed || *needed > static_cast<std::int64_t>(devices.size())) {
    throw Error(
        "mesh-size", origin.at,
        count_text(devices) + " must be >= the product of the mesh sizes " + product_text(sizes),
        "make a size smaller, or name a topology with more devices");
  }
  if (*needed < 0) check_count(sizes, devices, origin);
  check_positive(sizes, origin);
  return {devices.begin(), devices.begin() + *needed};
}

}  // namespace

std::int64_t slice_count(const std::vector<Device>& devices) {
  std::set<std::int64_t> slices;
  for (const Device& device : devices) {
    if (device.slice) slices.insert(*device.slice);
  }
  return slices.empty() ? 1 : static_cast<std::int64_t>(slices.size());
}

DeviceMesh create_device_mesh(const Shape& sizes, const std::vector<Device>& devices,
                              const DeviceMeshOptions& options, const MeshOrigin& origin) {
  check_count(sizes, devices, origin);
  if (const auto ring = ring_order(sizes, devices, origin.at)) {
    return arranged(sizes, devices, *ring);
  }
  if (devices.back().platform == "tpu") {
    return arranged(sizes, devices, torus_order(sizes, devices, options, origin));
  }
  return in_list_order(sizes, devices);
}

DeviceMesh make_device_mesh(const Shape& sizes, const std::vector<Device>& devices,
                            const MeshOrigin& origin) {
  const std::vector<Device> used = needed_devices(sizes, devices, origin);
  DeviceMeshOptions options;
  options.allow_split_physical_axes =
      used.front().kind == "TPU v5 lite" || used.front().kind == "TPU v5e";
  DeviceMesh mesh = create_device_mesh(sizes, used, options, origin);
  const std::int64_t slices = slice_count(used);
  if (slices > 1) {
    throw Error("multi-slice", origin.at,
                "one flat mesh does not support multi-slice topologies, and these devices are of " +
                    std::to_string(slices) + " slices",
                "build a hybrid mesh: sizes within a slice and sizes across slices");
  }
  return mesh;
}

}  // namespace shard
