#pragma once
// One device's arena, run without numbers: every buffer gets marks when it is written, and whoever
// reads it must find the same marks. Knows nothing of lives; only of places and order.

#include <string>
#include <vector>

#include "spmd/program.h"

namespace shard::tests {

/// Runs the program once. Returns the first thing that went wrong, e.g. `%7 was written over before
/// instruction 3 of body 0 read it`, or nothing.
std::string run_in_memory(const Program& program);

}  // namespace shard::tests
