#pragma once
// Random programs for properties of the engine: inputs placed on a random mesh, ops of all families
// on them, loops, constraints, donated inputs; of type auto, explicit, or some axes of each; with
// dims that the mesh does not divide.

#include <cstdint>

#include "config/rules_config.h"
#include "mesh/mesh.h"
#include "model/graph.h"
#include "shard/sharded_graph.h"
#include "support/choices.h"

namespace shard::tests {

struct RandomProgram {
  Graph graph;
  RulesConfig rules;
  Mesh mesh;
};

/// Pure function of the choices; 3 to 15 ops, a loop counted as one. In explicit mode an op that
/// has no type is left out, so the program has one.
RandomProgram random_program(test::Choices& choices);

/// On axes of type auto that divide every dim.
ShardedGraph random_sharded_graph(std::uint64_t seed);

}  // namespace shard::tests
