#pragma once
// What the offsets of a program add up to.

#include "spmd/liveness.h"
#include "spmd/program.h"

namespace shard::spmd {

/// The plan's figures for the offsets as they are: highest byte, where most bytes are live, what is
/// live there. A place counts once, for the buffer that has it at that moment; views are part of
/// what they view.
MemoryPlan measure_memory(const Program& program, const Liveness& liveness);

/// The life of each place by its root buffer (`root_of`): from the first to the last moment of all
/// buffers that have it. Views have no place of their own.
std::vector<Life> place_lives(const Program& program, const Liveness& liveness);

}  // namespace shard::spmd
