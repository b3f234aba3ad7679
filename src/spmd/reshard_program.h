#pragma once
// A reshard as programs that can be executed.

#include <vector>

#include "spmd/cheapest_reshard.h"
#include "spmd/program.h"

namespace shard {

/// Programs with one input and one output each, to be run one after the other: the last one's
/// output is the next one's input. There is one, unless a dim that does not divide is padded in
/// several ways: then it is whole at the end of one program and padded anew for the next. Inputs
/// and outputs are padded: their global types say how far. `from` is closed and leaves nothing
/// unreduced.
std::vector<Program> reshard_programs(const Mesh& mesh, const TensorType& global,
                                      const Sharding& from, const std::vector<ReshardStep>& steps);

}  // namespace shard
