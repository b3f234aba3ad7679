#pragma once
// A graph with the sharding of every value and the reasons: what planning decides before anything
// is partitioned.

#include <string>
#include <vector>

#include "config/rules_config.h"
#include "mesh/mesh.h"
#include "model/graph.h"
#include "shard/reasons.h"
#include "shard/resolve.h"
#include "shard/sharding.h"

namespace shard {

struct ShardedGraph {
  Graph graph;
  Mesh mesh;
  std::vector<Sharding> shardings;         ///< by ValueId; all closed, even, after `shard_graph`
  std::vector<ValueReasons> reasons;       ///< by ValueId
  std::vector<Sharding> output_shardings;  ///< by position in graph.outputs: what the caller gets
  std::vector<Sharding> constraints;       ///< by position in graph.placements
  std::vector<Conflict> conflicts;
  std::vector<RuleUse> rule_uses;
  std::vector<std::pair<LogicalAxis, Location>> unmatched;

  const Sharding& sharding(ValueId id) const { return shardings[index_of(id)]; }
};

/// Resolves inputs, outputs and constraints, then propagates to a fixed point (spec section 6: op
/// priorities, aggressive strategy, data-flow edges through `repeat`). Throws `Error` with all
/// mistakes of resolution.
ShardedGraph shard_graph(Graph graph, const RulesConfig& rules, const Mesh& mesh);

/// Propagation alone, for the conformance tests and `shard_graph`: `shardings` by ValueId holds
/// what is given. `results` are the closed or open shardings of the function's results, updated
/// too.
struct Propagation {
  std::vector<Sharding> shardings;
  std::vector<Sharding> results;
  std::vector<ValueReasons> reasons;
  std::vector<Conflict> conflicts;
};
Propagation propagate(const Graph& graph, const Mesh& mesh, std::vector<Sharding> shardings,
                      std::vector<Sharding> results, const std::vector<Sharding>& constraints);

/// The sharded graph as text (`--dump-stages`): the graph with every value's sharding.
std::string to_string(const ShardedGraph& sharded);

}  // namespace shard
