#pragma once
// What the executor measured against what the plan says.

#include "exec/cluster.h"
#include "spmd/program.h"

namespace shard::test {

/// The peak of every device is the plan's.
void check_memory(const Program& program, const Cluster& cluster);
/// The wire bytes over every set of mesh axes are the plan's.
void check_bytes(const Program& program, const Cluster& cluster);

}  // namespace shard::test
