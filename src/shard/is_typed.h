#pragma once
// Whether explicit mode has a say in a graph.

#include "mesh/mesh.h"
#include "model/graph.h"

namespace shard {

/// Whether types say anything about the graph: the mesh, or a region of the graph, has axes of type
/// explicit.
bool is_typed(const Graph& graph, const Mesh& mesh);

}  // namespace shard
