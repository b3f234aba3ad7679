#pragma once
// Meshes, specs and shardings as the recordings write them.

#include <optional>

#include "shard/sharding.h"
#include "support/recordings.h"

namespace shard::tests {

/// `{"axes": [[name, size], ...], "devices": [...]}`.
Mesh mesh_of(const json& recorded);

/// A written entry: a name, an array of names, null, "UNCONSTRAINED"; nothing when it is none.
std::optional<PartitionEntry> entry_of(const json& recorded);

/// A written spec as the sharding of an array of this rank; nothing when our values cannot express
/// it (unknown or repeated axes, entries beyond the rank that use an axis, what axis types forbid).
/// A spec with unreduced or reduced axes is `{"P": [...], "unreduced": [...], "reduced": [...]}`.
std::optional<Sharding> sharding_of(const Mesh& mesh, const json& spec, std::size_t rank);

}  // namespace shard::tests
