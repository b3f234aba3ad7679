#include "model/graph_builder.h"

#include "base/check.h"

namespace shard {
namespace {

using Labels = std::vector<std::string>;

/// Elementwise: dims correspond by position, so no rule has to be worked out.
Labels elementwise_labels(const Graph& graph, std::span<const ValueId> operands, int rank) {
  Labels labels(static_cast<std::size_t>(rank));
  for (const ValueId operand : operands) {
    const Labels& from = graph.value(operand).labels;
    if (from.size() != labels.size()) continue;
    for (std::size_t dim = 0; dim < labels.size(); ++dim) {
      if (labels[dim].empty()) labels[dim] = from[dim];
    }
  }
  return labels;
}

/// The label that `operands` give to each factor; the first that has one decides.
Labels factor_labels(const Graph& graph, const FactorRule& rule,
                     std::span<const ValueId> operands) {
  Labels labels(rule.factors.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Labels& from = graph.value(operands[i]).labels;
    for (std::size_t dim = 0; dim < from.size(); ++dim) {
      const std::vector<int>& factors = rule.operands[i][dim];
      if (factors.size() != 1) continue;
      std::string& label = labels[static_cast<std::size_t>(factors.front())];
      if (label.empty()) label = from[dim];
    }
  }
  return labels;
}

}  // namespace

std::vector<Labels> result_labels(const Graph& graph, Op op, std::span<const ValueId> operands,
                                  std::span<const TensorType> results,
                                  const Attributes& attributes) {
  std::vector<Labels> all(results.size());
  const OpDef& row = def(op);
  if (row.is_elementwise) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      all[i] = elementwise_labels(graph, operands, results[i].rank());
    }
    return all;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    all[i].resize(static_cast<std::size_t>(results[i].rank()));
  }
  if (row.factor_rule == nullptr) return all;
  const std::vector<TensorType> types = types_of(graph, {operands.begin(), operands.end()});
  const FactorRule rule = row.factor_rule(types, results, attributes);
  const Labels by_factor = factor_labels(graph, rule, operands);
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t dim = 0; dim < all[i].size(); ++dim) {
      const std::vector<int>& factors = rule.results[i][dim];
      if (factors.size() == 1) all[i][dim] = by_factor[static_cast<std::size_t>(factors.front())];
    }
  }
  return all;
}

GraphBuilder::GraphBuilder(Graph& graph) : graph_(graph) {
  if (graph_.regions.empty()) graph_.regions.emplace_back();
}

ValueId GraphBuilder::emit(Op op, std::span<const ValueId> operands, Attributes attributes) {
  const std::vector<ValueId> results = emit_all(op, operands, std::move(attributes));
  SHARD_CHECK(results.size() == 1, "emit adds ops of one result");
  return results.front();
}

std::vector<ValueId> GraphBuilder::emit_all(Op op, std::span<const ValueId> operands,
                                            Attributes attributes) {
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const ValueId operand : operands) types.push_back(type(operand));
  std::vector<TensorType> results = result_types(op, types, attributes);
  return emit_typed(op, operands, std::move(attributes), std::move(results));
}

std::vector<ValueId> GraphBuilder::emit_typed(Op op, std::span<const ValueId> operands,
                                              Attributes attributes,
                                              std::vector<TensorType> results,
                                              std::optional<Labels> known) {
  std::vector<Labels> labels;
  if (known) {
    labels.push_back(std::move(*known));
  } else if (labels_later && !def(op).is_elementwise) {
    for (const TensorType& type : results) labels.emplace_back(type.shape.size());
  } else {
    labels = result_labels(graph_, op, operands, results, attributes);
  }
  Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  node.operands.assign(operands.begin(), operands.end());
  node.results.reserve(results.size());
  const NodeId id = append(std::move(node));
  for (std::size_t i = 0; i < results.size(); ++i) {
    add_result(id, std::move(results[i]), std::move(labels[i]));
  }
  return graph_.node(id).results;
}

ValueId GraphBuilder::add_value(TensorType type, std::string name, Labels labels, Location at) {
  const ValueId id = id_at<ValueId>(graph_.values.size());
  graph_.values.push_back(
      {std::move(type), std::move(name), std::move(labels), NodeId::none, std::move(at)});
  return id;
}

ValueId GraphBuilder::add_result(NodeId node, TensorType type, Labels labels) {
  const ValueId id = add_value(std::move(type), "", std::move(labels), graph_.node(node).at);
  graph_.values.back().producer = node;
  graph_.nodes[index_of(node)].results.push_back(id);
  return id;
}

NodeId GraphBuilder::add_repeat(RegionId region, std::vector<ValueId> operands,
                                Attributes attributes) {
  Node node;
  node.op = Op::repeat;
  node.attributes = std::move(attributes);
  node.operands = std::move(operands);
  node.region = region;
  return append(std::move(node));
}

NodeId GraphBuilder::append(Node node) {
  node.phase = origin.phase;
  node.iteration = origin.iteration;
  node.name = origin.name;
  node.at = origin.at;
  const NodeId id = id_at<NodeId>(graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
  graph_.regions[index_of(region_)].nodes.push_back(id);
  return id;
}

RegionId GraphBuilder::add_region() {
  graph_.regions.emplace_back();
  return id_at<RegionId>(graph_.regions.size() - 1);
}

RegionId GraphBuilder::enter(RegionId region) {
  const RegionId before = region_;
  region_ = region;
  return before;
}

}  // namespace shard
