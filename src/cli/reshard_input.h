#pragma once
// What `reshard` is asked about: an array, two shardings of it and the mesh.

#include "base/tensor_type.h"
#include "cli/options.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"
#include "text/files.h"

namespace shard {

struct ReshardInput {
  Mesh mesh;
  TensorType type;
  Sharding from, to;  ///< closed, on `mesh`, also when `to` was written on another one
};

/// Reads --mesh or --devices, --shape, --dtype, --to-mesh and the two specs. Dims need divide
/// unless --pad says otherwise. Throws `Error`: `usage`, `bad-value`, `needs-rules`, `indivisible`,
/// `mesh-mismatch` (no axes of the mesh split like those of --to-mesh), `not-yet` (a result that is
/// a sum where the array is none), and what reading a mesh and a spec raise.
ReshardInput read_reshard_input(const Options& options, Sources& sources);

}  // namespace shard
