#pragma once
// From the layouts of a search to collectives over axes.

#include <vector>

#include "spmd/reshard.h"
#include "spmd/reshard_search.h"

namespace shard::spmd {

/// Slices of one dim that follow each other become one collective, and so do gathers and scatters;
/// a sum that is scattered and gathered again is an all_reduce.
std::vector<ReshardStep> reshard_steps(const ReshardSpace& space,
                                       const std::vector<LayoutStep>& steps);

}  // namespace shard::spmd
