#pragma once
// Random graphs with random placements: products, elementwise ops, reductions, transposes,
// constraints, loops, donated inputs.

#include <cstdint>

#include "shard/sharded_graph.h"

namespace shard::tests {

/// Pure function of the seed.
ShardedGraph random_sharded_graph(std::uint64_t seed);

}  // namespace shard::tests
