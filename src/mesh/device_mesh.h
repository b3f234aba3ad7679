#pragma once
// Which device stands where in a mesh: the order in which JAX arranges the devices it finds.
//
// Neighbours on a mesh axis should be neighbours on the wires, so the order follows the hardware: a
// fixed ring for small slices (ring_order.h), the torus algorithm for TPUs (physical_mesh.h,
// torus.h), ids for GPUs, the given order for anything else. Several slices joined by a slower
// network are arranged one by one and put together as blocks, the slow network outermost.
//
// Example: 4 chips of v4 with ids 0 1 / 2 3 (x fastest) and a mesh (4,): ids 0 2 1 3, since the
// torus is read with x as the major axis.
//
// Sizes are ordered by growing traffic: the last axis communicates most. -1 has no meaning here;
// `filled_sizes` of mesh_sizes.h comes first.

#include <vector>

#include "mesh/device.h"

namespace shard {

struct DeviceMeshOptions {
  bool contiguous_submeshes = false;       ///< each process owns a box of the mesh
  bool allow_split_physical_axes = false;  ///< several mesh axes may share a torus axis
};

/// The order of `jax.experimental.mesh_utils.create_device_mesh`; the product of `sizes` is the
/// number of devices. Throws `Error` with one of `mesh-size`, `bad-mesh-size`,
/// `topology-unassignable`, `topology-not-a-box`, `cores-not-merged`, `no-coordinates`,
/// `no-contiguous-submeshes`.
DeviceMesh create_device_mesh(const Shape& sizes, const std::vector<Device>& devices,
                              const DeviceMeshOptions& options = {}, const MeshOrigin& origin = {});

/// The order of `jax.make_mesh`: the first devices of the list, as many as the mesh needs (the
/// caller says so when some are left over), split axes where JAX allows them on its own, and one
/// slice only. Throws what `create_device_mesh` throws, and `multi-slice`.
DeviceMesh make_device_mesh(const Shape& sizes, const std::vector<Device>& devices,
                            const MeshOrigin& origin = {});

struct HybridMeshOptions {
  bool process_is_granule = false;          ///< the slow network joins processes instead of slices
  bool should_sort_granules_by_key = true;  ///< false: in the order in which they appear
  bool allow_split_physical_axes = false;
};

/// The order of `create_hybrid_device_mesh`: `ici_sizes` within a granule, `dcn_sizes` across
/// granules, DCN the outer part of every axis; the shorter shape gets ones in front. Throws what
/// `create_device_mesh` throws, and `no-slice-index`.
DeviceMesh create_hybrid_device_mesh(const Shape& ici_sizes, const Shape& dcn_sizes,
                                     const std::vector<Device>& devices,
                                     const HybridMeshOptions& options = {},
                                     const MeshOrigin& origin = {});

}  // namespace shard
