#pragma once
// The chips of one slice as an array, from the coordinates of its devices.

#include <cstddef>
#include <vector>

#include "mesh/device.h"

namespace shard {

/// Positions in a device list, row-major over the torus' axes x y z (x y core on TPU v2 and v3;
/// x y z core where a chip is two devices).
struct PhysicalMesh {
  Shape torus;
  std::vector<std::size_t> cells;
};

/// Arranges TPU devices, in any order, by their coordinates relative to the smallest ones. Throws
/// `Error` `topology-not-a-box` when they do not fill a box exactly once, `cores-not-merged` for a
/// second core on a kind whose chips are one device, `no-coordinates` when one has none.
PhysicalMesh physical_mesh(const std::vector<Device>& devices, const Location& at);

/// The axes reordered so that each process owns a box of the mesh, for the few combinations where
/// such an order is known; otherwise throws `Error` `no-contiguous-submeshes`.
PhysicalMesh reordered_for_submeshes(const PhysicalMesh& mesh, const Shape& sizes,
                                     const Location& at);

}  // namespace shard
