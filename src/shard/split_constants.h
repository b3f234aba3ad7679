#pragma once
// Copies of constants for uses that are sharded differently.

#include <vector>

#include "model/graph.h"
#include "shard/graph_flow.h"

namespace shard {

/// After propagation: every use of a constant (or of what is computed from constants alone) reads a
/// value with exactly the sharding of its slot. The first sharding keeps the constant; each further
/// one gets a copy right behind it, and `shardings` (by ValueId) grows with the graph.
void split_constants(Graph& graph, const GraphFlow& made, std::vector<Sharding>& shardings);

}  // namespace shard
