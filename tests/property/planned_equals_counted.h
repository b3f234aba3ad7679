#pragma once
// What the executor measured against what the plan says.

#include <string>
#include <vector>

#include "exec/cluster.h"
#include "spmd/program.h"

namespace shard::test {

/// Where peaks of devices or the wire bytes over a set of mesh axes are not the plan's, one line
/// each.
std::vector<std::string> differences_from_plan(const Program& program, const Cluster& cluster);

}  // namespace shard::test
