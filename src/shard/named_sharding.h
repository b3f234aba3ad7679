#pragma once
// A PartitionSpec on a mesh: which axes it may name, and the sharding it is (spec sections 2.2 and
// 2.3).

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shard/sharding.h"

namespace shard {

/// Why a spec is no sharding on a mesh.
struct SpecMistake {
  std::string id;
  std::string message;
  std::string hint;
  std::string detail;  ///< tells mistakes with one id and place apart
};

/// What the types of the mesh's axes forbid, in JAX's order: `unconstrained-without-auto`,
/// `unknown-mesh-axis` and `unreduced-axis-type` of the unreduced and the reduced axes,
/// `manual-axis` (arrays have no shards of their own where a `shard_map` body decides).
/// `what` is how messages call the array. Whether the axes of the entries are known and occur once
/// is asked elsewhere.
std::vector<SpecMistake> axis_type_mistakes(const Mesh& mesh, const PartitionSpec& spec,
                                            std::string_view what);

/// The sharding of an array of this rank. Axes of size 1 are kept; UNCONSTRAINED dims are open;
/// unreduced axes are in mesh order; of entries beyond the rank, axes that the mesh does not have
/// and axes used before nothing is left.
Sharding named_sharding(const Mesh& mesh, const PartitionSpec& spec, int rank);

/// The form in which the compiler may still add axes of type Auto to every dim: all dims open, and
/// the Explicit axes that are neither in a dim nor unreduced nor `reduced` held back. On a mesh
/// without axes of type Auto the sharding itself.
Sharding opened_for_auto(const Mesh& mesh, const Sharding& sharding,
                         const std::set<MeshAxis>& reduced = {});

}  // namespace shard
