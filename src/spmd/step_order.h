#pragma once
// Which of the steps of a reshard that could change places comes first.

#include "spmd/cheapest_reshard.h"

namespace shard::spmd {

/// The same steps, for the same bytes in all, such that the mesh's outer axes carry least: of
/// gathers of different dims in a row those over the outer axes come first, and of scatters last,
/// while the array is small. Outer axes are the ones that cross slow links. `plan` where that would
/// change the bytes.
ReshardPlan with_outer_axes_least(const TensorType& global, const Sharding& from, ReshardPlan plan);

}  // namespace shard::spmd
