#pragma once
// Passes over a program between lowering and the memory plan. All are deterministic; none changes
// what the program computes.

#include "spmd/program.h"

namespace shard::spmd {

/// Fuses an all_reduce that is only sliced afterwards, over all its axes, into reduce_scatters (and
/// a slice of what is left); drops a slice that undoes the gather before it; removes instructions
/// whose results nobody reads.
void simplify(Program& program);

/// Moves the updates of the main body to where their operands are ready and nobody else will read
/// the state they replace, so that a gradient is used while it is in cache and its place is free
/// early. Everything else keeps its order.
void schedule_updates(Program& program);

/// Says which buffers are parameters, gradients, temporaries of reshards, and so on.
void categorize(Program& program);

/// Drops buffers and bodies that nothing names and numbers the others in order of first appearance.
void renumber(Program& program);

}  // namespace shard::spmd
