#pragma once
// From a Graph to what propagation runs on.

#include <vector>

#include "model/graph.h"
#include "shard/flow.h"

namespace shard {

/// What is known before propagation. Shardings that are fully open and empty count as unknown.
struct GivenShardings {
  std::vector<Sharding> values;       ///< by ValueId
  std::vector<Sharding> results;      ///< by position in Graph::outputs
  std::vector<Sharding> constraints;  ///< by position in Graph::placements
};

/// A place in the graph that uses a constant, and the slot made for it.
struct ConstantUse {
  enum class Kind { operand, region_result, output };
  Kind kind = Kind::operand;
  NodeId node = NodeId::none;  ///< of operand and region_result (the `repeat`)
  std::size_t position = 0;
  ValueId value = ValueId::none;
  int slot = 0;
};

struct GraphFlow {
  FlowGraph flow;
  std::vector<int> slot_of;  ///< by ValueId; -1 for constants, which have a slot per use
  std::vector<ConstantUse> constant_uses;
};

/// `repeat` becomes data flow: a carry's start, its next value, its region parameter and its final
/// value share one sharding; a loop-invariant operand is an edge into the region; a stacked array
/// and its slices (or outputs) share all dims but the leading one, which stays whole in the loop.
GraphFlow flow_of(const Graph& graph, const GivenShardings& given);

}  // namespace shard
