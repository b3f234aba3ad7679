#include "spmd/forms.h"

#include <algorithm>

#include "base/ids.h"

namespace shard::spmd {

Forms::Forms(const Graph& graph, bool constraints_are_names)
    : graph_(graph),
      forms_(graph.values.size()),
      readers_(graph.values.size(), 0),
      last_reader_(graph.values.size(), NodeId::none) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) origins_.push_back(id_at<ValueId>(i));
  const auto is_name = [&](const Node& node) {
    return constraints_are_names && node.op == Op::constrain;
  };
  for (const Region& region : graph.regions) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph.node(id);
      if (!is_name(node)) continue;
      origins_[index_of(node.results.front())] = origin(node.operands.front());
    }
  }
  const auto read = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values) ++readers_[index_of(origin(value))];
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (is_name(node)) continue;
    read(node.operands);
    for (const ValueId operand : node.operands)
      last_reader_[index_of(origin(operand))] = id_at<NodeId>(i);
  }
  for (const Region& region : graph.regions) read(region.results);
}

const Form* Forms::find(ValueId value, const Sharding& sharding) const {
  for (const Form& form : of(value)) {
    if (form.sharding == sharding) return &form;
  }
  return nullptr;
}

bool Forms::is_source(ValueId value) const {
  const NodeId producer = graph_.value(origin(value)).producer;
  if (producer == NodeId::none) return false;
  const Node& node = graph_.node(producer);
  return node.region == RegionId::none && node.operands.empty() && node.results.size() == 1 &&
         def(node.op).factor_rule == nullptr;
}

}  // namespace shard::spmd
