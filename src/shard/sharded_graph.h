#pragma once
// A graph with the sharding of every value and the reasons: what planning decides before anything
// is partitioned.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/rules_config.h"
#include "mesh/mesh.h"
#include "model/graph.h"
#include "shard/explicit_graph.h"
#include "shard/reasons.h"
#include "shard/resolve.h"
#include "shard/sharding.h"

namespace shard {

struct ShardedGraph {
  Graph graph;  ///< the graph given, with a copy of a constant for each further sharding it needs
  /// The graph given where `graph` works on padded arrays (`misfit: pad`); its values are the first
  /// ones of `graph`.
  std::optional<Graph> unpadded;
  Mesh mesh;
  std::vector<Sharding> shardings;         ///< by ValueId; all closed and even
  std::vector<ValueReasons> reasons;       ///< by ValueId
  std::vector<Sharding> output_shardings;  ///< by position in graph.outputs: what the caller gets
  std::vector<Sharding> constraints;       ///< by position in graph.placements
  std::vector<Conflict> conflicts;
  std::vector<RuleUse> rule_uses;
  std::vector<RuleDecision> decisions;
  std::vector<std::int64_t> path_arrays;  ///< by glob of the rules' `paths`: arrays it placed
  std::vector<std::pair<LogicalAxis, Location>> unmatched;
  GraphTypes types;  ///< of the graph given; empty on a mesh without axes of type explicit

  Bytes reshard_memory;  ///< that partitioning keeps to, as `RulesConfig` has it

  const Sharding& sharding(ValueId id) const { return shardings[index_of(id)]; }
  /// The graph as its caller knows it.
  const Graph& given() const { return unpadded ? *unpadded : graph; }
  /// The value's type without padding.
  const TensorType& given_type(ValueId id) const {
    const bool is_given = index_of(id) < given().values.size();
    return (is_given ? given() : graph).value(id).type;
  }
  /// Of an output, which may be a copy of a constant.
  const TensorType& given_output_type(std::size_t position) const {
    return given().value(given().outputs[position].value).type;
  }
};

/// Resolves inputs, outputs and constraints, then propagates to a fixed point (spec section 6: op
/// priorities, aggressive strategy, data-flow edges through `repeat`). Throws `Error` with all
/// mistakes of resolution (see Resolver).
///
/// Inputs are closed, unannotated state is replicated; an unannotated data input and an output
/// without a placement are left to propagation. With axes of type explicit the forward values have
/// the types that the ops' rules give them, and only the rest is propagated; an input without a
/// placement is then replicated over those axes. Throws `Error` with every mistake of typing at its
/// layer: the ids of explicit_refusal.cpp. Where JAX would pad, a dim keeps the axes that
/// divide it evenly (reason `uneven`); with `misfit: pad` it is padded instead (`pad_graph`). A
/// fully unmatched or null constraint is none.
ShardedGraph shard_graph(Graph graph, const RulesConfig& rules, const Mesh& mesh);

/// The types alone, mistakes included; empty on a mesh without axes of type explicit. Throws
/// `Error` with all mistakes of resolution.
GraphTypes graph_types(const Graph& graph, const RulesConfig& rules, const Mesh& mesh);

/// A mistake as the user is told, without a hint.
Diagnostic to_diagnostic(const Graph& graph, const TypingMistake& mistake);

/// The sharded graph as text (`--dump-stages`): the mesh, then the graph with every value's
/// sharding, e.g. `f32[8,1024] @ P('data', None)`, then what the outputs are handed over as.
std::string to_string(const ShardedGraph& sharded);

}  // namespace shard
