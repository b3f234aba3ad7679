#include "model/graph.h"

namespace shard {

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<TensorType> types;
  types.reserve(values.size());
  for (const ValueId id : values) types.push_back(graph.value(id).type);
  return types;
}

FactorRule rule_of(const Graph& graph, const Node& node) {
  return factor_rule(node.op, types_of(graph, node.operands), types_of(graph, node.results),
                     node.attributes);
}

}  // namespace shard
