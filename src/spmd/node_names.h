#pragma once
// How people call what an op makes, and the dims that it sums over.

#include <string>

#include "model/graph.h"
#include "spmd/common_factors.h"

namespace shard::spmd {

/// The value's own name, or that of the layer with what the node does.
std::string value_name(const Graph& graph, ValueId value, NodeId node);

/// Labels of the dims that are summed over and split: `hidden`; several joined by `, `.
std::string reduced_labels(const Graph& graph, const Node& node, const FactorRule& rule,
                           const CommonFactors& common);

}  // namespace shard::spmd
