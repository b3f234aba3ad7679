#include "spmd/node_names.h"

#include <algorithm>

namespace shard::spmd {
namespace {

/// Of the first operand dim that has the factor and a label.
std::string label_of(const Graph& graph, const Node& node, const FactorRule& rule, int factor) {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::vector<std::string>& labels = graph.value(node.operands[i]).labels;
    for (std::size_t dim = 0; dim < rule.operands[i].size() && dim < labels.size(); ++dim) {
      const std::vector<int>& factors = rule.operands[i][dim];
      const bool has_it = std::find(factors.begin(), factors.end(), factor) != factors.end();
      if (has_it && !labels[dim].empty()) return labels[dim];
    }
  }
  return "";
}

}  // namespace

std::string value_name(const Graph& graph, ValueId value, NodeId id) {
  const Node& node = graph.node(id);
  const std::string& name = graph.value(value).name;
  if (!name.empty()) return name;
  return node.name + (node.name.empty() ? "" : ":") + std::string(def(node.op).name) +
         (node.phase == Phase::backward ? ":backward" : "");
}

std::string reduced_labels(const Graph& graph, const Node& node, const FactorRule& rule,
                           const CommonFactors& common) {
  std::string labels;
  if (common.reduced.empty()) return labels;
  for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
    if (rule.factors[factor].kind != FactorKind::reduction || common.factors[factor].empty())
      continue;
    const std::string label = label_of(graph, node, rule, static_cast<int>(factor));
    if (!label.empty()) labels += (labels.empty() ? "" : ", ") + label;
  }
  return labels;
}

}  // namespace shard::spmd
