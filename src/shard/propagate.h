#pragma once
// Propagation of a Graph's shardings (spec section 6): what is known spreads along factors until
// nothing changes.

#include <vector>

#include "model/graph.h"
#include "shard/graph_flow.h"
#include "shard/reasons.h"

namespace shard {

struct Propagation {
  Graph graph;                        ///< with copies of constants whose uses differ
  std::vector<Sharding> shardings;    ///< by ValueId of `graph`
  std::vector<Sharding> results;      ///< by position in graph.outputs
  std::vector<ValueReasons> reasons;  ///< by ValueId: what each dim gained, in order
  std::vector<Conflict> conflicts;    ///< what stayed apart, each once, in program order
};

/// Op priorities 0 to 4, each to a fixed point; JAX's aggressive strategy. Open dims stay open in
/// the answer; nothing is checked for evenness.
Propagation propagate(Graph graph, const Mesh& mesh, const GivenShardings& given);

}  // namespace shard
