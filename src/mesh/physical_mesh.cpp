#include "mesh/physical_mesh.h"

#include <algorithm>
#include <limits>

#include "mesh/mesh_sizes.h"
#include "mesh/torus.h"

namespace shard {
namespace {

using Corner = std::array<std::int64_t, 4>;  ///< x y z core

bool is_one_of(const std::string& kind, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const char* one) { return kind == one; });
}

Corner corner_of(const Device& device, const Location& at) {
  if (!device.coords) {
    throw Error("no-coordinates", at,
                "device " + std::to_string(device.id) + " of kind '" + device.kind +
                    "' has no chip coordinates, so its place on the torus is not known");
  }
  const Grid& coords = *device.coords;
  return {coords[0], coords[1], coords[2], device.core};
}

/// The smallest corner of all devices and the extents of the box around them.
struct Box {
  Corner low;
  Shape extents;
};

Box box_around(const std::vector<Device>& devices, const Location& at) {
  Corner low;
  Corner high;
  low.fill(std::numeric_limits<std::int64_t>::max());
  high.fill(std::numeric_limits<std::int64_t>::min());
  for (const Device& device : devices) {
    const Corner corner = corner_of(device, at);
    for (std::size_t k = 0; k < corner.size(); ++k) {
      low[k] = std::min(low[k], corner[k]);
      high[k] = std::max(high[k], corner[k]);
    }
  }
  Box box{low, {}};
  for (std::size_t k = 0; k < low.size(); ++k) {
    std::int64_t extent = 0;
    if (__builtin_sub_overflow(high[k], low[k], &extent) ||
        __builtin_add_overflow(extent, 1, &extent)) {
      extent = std::numeric_limits<std::int64_t>::max();
    }
    box.extents.push_back(extent);
  }
  return box;
}

std::string slices_hint(const std::vector<Device>& devices) {
  const std::int64_t slices = slice_count(devices);
  if (slices < 2) return "";
  return "the devices are of " + std::to_string(slices) +
         " slices, whose coordinates repeat: build a hybrid mesh";
}

/// Which of x y z core index the physical mesh, by the kind of the first device.
std::vector<std::size_t> torus_axes(const std::vector<Device>& devices, const Box& box,
                                    const Location& at) {
  const std::string& kind = devices.front().kind;
  if (is_one_of(kind, {"TPU v2", "TPU v3"})) {
    if (box.low[2] == 0 && box.extents[2] == 1) return {0, 1, 3};
    throw Error("topology-not-a-box", at, kind + " slices are flat, but a chip has a z of its own");
  }
  if (is_one_of(kind, {"TPU7x", "TPU7", "TPU8i"})) return {0, 1, 2, 3};
  if (kind == "TPU v5p" && box.extents[3] == 2) return {0, 1, 2, 3};
  for (const Device& device : devices) {
    if (device.core == 0) continue;
    throw Error("cores-not-merged", at,
                "a mesh of '" + kind + "' requires one device per chip, but device " +
                    std::to_string(device.id) + " is core " + std::to_string(device.core) +
                    " of its chip",
                "list one device per chip: the cores of these chips work as one device");
  }
  return {0, 1, 2};
}

void check_count(const std::vector<Device>& devices, const Box& box, const Location& at) {
  if (size_product(box.extents) == static_cast<std::int64_t>(devices.size())) return;
  throw Error("topology-not-a-box", at,
              std::to_string(devices.size()) +
                  " devices do not fill the box of x, y, z and cores around them: " +
                  product_text(box.extents),
              slices_hint(devices));
}

}  // namespace

PhysicalMesh physical_mesh(const std::vector<Device>& devices, const Location& at) {
  const Box box = box_around(devices, at);
  check_count(devices, box, at);
  const std::vector<std::size_t> axes = torus_axes(devices, box, at);
  PhysicalMesh mesh;
  for (const std::size_t axis : axes) mesh.torus.push_back(box.extents[axis]);
  mesh.cells.assign(devices.size(), devices.size());
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const Corner corner = corner_of(devices[k], at);
    std::int64_t cell = 0;
    for (std::size_t t = 0; t < axes.size(); ++t) {
      cell = cell * mesh.torus[t] + corner[axes[t]] - box.low[axes[t]];
    }
    mesh.cells[static_cast<std::size_t>(cell)] = k;
  }
  if (std::find(mesh.cells.begin(), mesh.cells.end(), devices.size()) != mesh.cells.end()) {
    throw Error("topology-not-a-box", at,
                "the coordinates of the devices are not a contiguous cuboid: two devices share a "
                "place of the box " +
                    torus_text(mesh.torus) + " and another place is empty",
                slices_hint(devices));
  }
  return mesh;
}

namespace {

struct SubmeshOrder {
  Grid torus;
  std::array<std::int64_t, 2> sizes;  ///< of the mesh, without its axes of size 1
  std::array<std::size_t, 3> order;
};

constexpr std::array<SubmeshOrder, 8> submesh_orders = {{
    {{2, 2, 1}, {2, 2}, {0, 1, 2}},
    {{2, 2, 4}, {4, 4}, {0, 1, 2}},
    {{4, 4, 4}, {16, 4}, {0, 2, 1}},
    {{4, 8, 8}, {64, 4}, {0, 2, 1}},
    {{4, 8, 8}, {4, 64}, {0, 2, 1}},
    {{8, 8, 8}, {64, 8}, {0, 2, 1}},
    {{8, 16, 16}, {256, 8}, {0, 2, 1}},
    {{8, 16, 16}, {8, 256}, {0, 2, 1}},
}};

[[noreturn]] void refuse_submeshes(const PhysicalMesh& mesh, const Shape& sizes,
                                   const Location& at) {
  std::string available;
  for (const SubmeshOrder& known : submesh_orders) {
    if (!std::equal(known.torus.begin(), known.torus.end(), mesh.torus.begin(), mesh.torus.end())) {
      continue;
    }
    available += (available.empty() ? "" : " or ") +
                 tuple_text(Shape(known.sizes.begin(), known.sizes.end()));
  }
  throw Error("no-contiguous-submeshes", at,
              "cannot create contiguous submeshes for mesh sizes " + tuple_text(sizes) +
                  " on the topology " + torus_text(mesh.torus),
              available.empty() ? "no sizes are known for this topology; leave the option out"
                                : "sizes that work here: " + available);
}

}  // namespace

PhysicalMesh reordered_for_submeshes(const PhysicalMesh& mesh, const Shape& sizes,
                                     const Location& at) {
  Shape wide;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(wide),
               [](std::int64_t size) { return size != 1; });
  for (const SubmeshOrder& known : submesh_orders) {
    if (!std::equal(known.torus.begin(), known.torus.end(), mesh.torus.begin(), mesh.torus.end()) ||
        !std::equal(known.sizes.begin(), known.sizes.end(), wide.begin(), wide.end())) {
      continue;
    }
    PhysicalMesh reordered;
    for (const std::size_t axis : known.order) reordered.torus.push_back(mesh.torus[axis]);
    const std::vector<std::size_t> order(known.order.begin(), known.order.end());
    for (const std::int64_t from : transposed_positions(mesh.torus, order)) {
      reordered.cells.push_back(mesh.cells[static_cast<std::size_t>(from)]);
    }
    return reordered;
  }
  refuse_submeshes(mesh, sizes, at);
}

}  // namespace shard
