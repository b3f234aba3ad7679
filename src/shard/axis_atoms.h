#pragma once
// A mesh cut into parts that shardings do not cut any further.

#include <vector>

#include "shard/axes.h"
#include "shard/sharding.h"

namespace shard {

/// All axes a sharding uses, dims first, then the unreduced ones, as written.
Axes used_axes(const Sharding& sharding);

/// The mesh's axes in order, each cut wherever one of `axes` begins or ends; parts of size 1 are
/// left out. On `x` of size 8 with `x:(2)2` in use: x:(1)2, x:(2)2, x:(4)2.
Axes mesh_atoms(const Mesh& mesh, const Axes& axes);

/// The atoms that make up `axes`, in the order of `axes`.
std::vector<std::size_t> atoms_of(const Axes& atoms, const Axes& axes);

}  // namespace shard
