#pragma once
// Reductions on the way to more pieces: known without a search.

#include <optional>
#include <vector>

#include "spmd/reshard_search.h"

namespace shard::spmd {

/// Where the goal is the start with more pieces in its dims and without sums: slices by what is no
/// sum, scatters, and an all_reduce of the sums that the goal has in no dim. Nothing sends less:
/// whatever is reduced is cut by all pieces that there are. Nothing for any other goal, for dims
/// that are padded, and where a dim has a sum's piece before another one.
std::optional<std::vector<LayoutStep>> plain_reduction(const ReshardSpace& space);

}  // namespace shard::spmd
