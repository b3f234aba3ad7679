#pragma once
// Small graphs by hand, on the mesh data 2 x model 4.

#include <optional>
#include <string>
#include <vector>

#include "model/graph_builder.h"
#include "shard/sharded_graph.h"

namespace shard::tests {

/// `P('data', None)` as dims: {"data", ""}; several axes of a dim are joined by commas.
SpecConfig placed(const std::vector<std::string>& dims, int line = 1);
/// `[batch, embed]`; an empty name is None.
SpecConfig named(const std::vector<std::string>& names, int line = 1);

class GraphMaker {
 public:
  GraphMaker() : build(graph) {}

  ValueId input(const std::string& path, const Shape& shape, std::vector<std::string> labels,
                SpecConfig placement, Role role = Role::parameter);
  void output(const std::string& path, ValueId value,
              std::optional<SpecConfig> placement = std::nullopt);
  ValueId dot(ValueId lhs, ValueId rhs);
  ValueId constrain(ValueId value, SpecConfig placement);
  ValueId constant(const Shape& shape, double value);

  /// The effective specs of these values, one per line.
  std::string specs(const ShardedGraph& sharded, const std::vector<ValueId>& values) const;

  Graph graph;
  GraphBuilder build;
};

Mesh guide_mesh();

}  // namespace shard::tests
