#pragma once
// Which mesh axes of more than one device an array uses.

#include <set>

#include "check/findings.h"
#include "shard/sharded_graph.h"

namespace shard {

/// Positions in the mesh of the axes that split some dim.
std::set<int> axes_of(const Sharding& sharding);

/// The axes that split some leaf of the state, or some data input.
std::set<int> axes_of_inputs(const ShardedGraph& sharded, bool state);

/// In a list of arrays, which has no batch and no activations: whether a rule brings the axis to a
/// logical axis that no array has, so that it is there for the values of the program.
bool is_for_values(const PlanFacts& facts, const MeshAxis& axis);

}  // namespace shard
