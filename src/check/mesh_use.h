#pragma once
// Which mesh axes of more than one device an array uses.

#include <set>

#include "shard/sharded_graph.h"

namespace shard {

/// Positions in the mesh of the axes that split some dim.
std::set<int> axes_of(const Sharding& sharding);

/// The axes that split some leaf of the state, or some data input.
std::set<int> axes_of_inputs(const ShardedGraph& sharded, bool state);

}  // namespace shard
