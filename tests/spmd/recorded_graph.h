#pragma once
// A recorded StableHLO program as a graph of our ops, with the recorded shardings: what our
// partitioner is given where XLA was given the recorded one.

#include <string>
#include <variant>

#include "shard/sharded_graph.h"
#include "support/recordings.h"

namespace shard::tests {

/// The graph, or the name of the first op that has no counterpart. Dims that do not divide are
/// left whole, as where shardings are made.
std::variant<ShardedGraph, std::string> recorded_graph(const json& program);

}  // namespace shard::tests
