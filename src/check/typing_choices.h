#pragma once
// What a user may answer where an op's type is ambiguous: each out_sharding that would do, with
// what it makes the devices send.

#include <string>
#include <vector>

#include "base/units.h"
#include "shard/explicit_graph.h"
#include "spmd/partition.h"

namespace shard {

/// One out_sharding that gives the op's result a type.
struct TypingChoice {
  PartitionSpec spec;
  std::vector<CollectiveCount> collectives;  ///< of this op alone, its operands as they are typed
  Bytes wire;                                ///< all of them, per device
};

/// The choices for the first result of the node, the cheapest first; among equals the one that
/// leaves the smaller part on a device. Empty when no out_sharding helps: the op takes none, or the
/// mistake is another one. `out_sharding` decides dims by their factors: a dim may keep the split
/// of either operand, and the axes of a contracted dim may split one of the result's.
std::vector<TypingChoice> typing_choices(const Graph& graph, const Mesh& mesh,
                                         const TypingMistake& mistake);

/// The mistakes with their choices as hints, ready to be thrown.
std::vector<Diagnostic> typing_diagnostics(const Graph& graph, const GraphTypes& types);

/// `all_reduce over model, 2,097,152 B on the wire`; `nothing to send`.
std::string cost_text(const Mesh& mesh, const TypingChoice& choice);

}  // namespace shard
