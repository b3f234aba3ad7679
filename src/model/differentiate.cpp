#include "model/differentiate.h"

#include <algorithm>

#include "base/check.h"
#include "base/diagnostic.h"
#include "model/guard.h"
#include "model/loop_derivative.h"
#include "model/model.h"

namespace shard {
namespace {

bool is_differentiable(const Graph& graph, ValueId id) {
  return is_inexact(graph.value(id).type.dtype);
}

/// Marks the values that depend on any of `wrt` through floating-point values.
class Activity {
 public:
  Activity(const Graph& graph, const std::vector<ValueId>& wrt)
      : graph_(graph), active_(graph.values.size()) {
    for (const ValueId id : wrt) active_[index_of(id)] = 1;
    region(graph.body());
  }

  std::vector<char> take() { return std::move(active_); }

 private:
  void region(const Region& region) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      if (node.region != RegionId::none) {
        loop(node);
        continue;
      }
      const bool depends = std::any_of(node.operands.begin(), node.operands.end(),
                                       [this](auto v) { return active_[index_of(v)] != 0; });
      if (!depends) continue;
      for (const ValueId result : node.results) mark(result);
    }
  }

  void loop(const Node& node) {
    const Region& body = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      copy(node.operands[i], body.parameters[i]);
    for (bool changed = true; changed;) {
      region(body);
      changed = false;
      for (std::size_t i = 0; i < carries; ++i)
        changed |= copy(body.results[i], body.parameters[i]);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      copy(body.results[i], node.results[i]);
      // What comes in goes out where the body is left out.
      if (i < carries && is_guarded(node)) copy(node.operands[i], node.results[i]);
    }
  }

  void mark(ValueId id) {
    if (is_differentiable(graph_, id)) active_[index_of(id)] = 1;
  }

  /// Whether `to` became active because `from` is.
  bool copy(ValueId from, ValueId to) {
    if (!active_[index_of(from)] || active_[index_of(to)]) return false;
    active_[index_of(to)] = 1;
    return true;
  }

  const Graph& graph_;
  std::vector<char> active_;
};

}  // namespace

Differentiator::Differentiator(Graph& graph, const std::vector<ValueId>& wrt,
                               std::vector<RematRange> remats)
    : builder_(graph),
      rematerializer_(builder_, std::move(remats)),
      active_(Activity(graph, wrt).take()),
      cotangent_(graph.values.size(), ValueId::none) {
  builder_.origin.phase = Phase::backward;
  builder_.labels_later = true;
}

void Differentiator::accumulate(ValueId primal, ValueId cotangent) {
  Graph& graph = builder_.graph();
  auto& labels = graph.values[index_of(cotangent)].labels;
  const auto& primal_labels = graph.value(primal).labels;
  for (std::size_t dim = 0; dim < labels.size(); ++dim) {
    if (labels[dim].empty()) labels[dim] = primal_labels[dim];
  }
  ValueId& sum = cotangent_[index_of(primal)];
  sum = sum == ValueId::none ? cotangent : builder_.emit(Op::add, {sum, cotangent});
}

ValueId Differentiator::cotangent_or_zeros(ValueId primal) {
  const ValueId found = cotangent_[index_of(primal)];
  return found == ValueId::none ? zeros_like(primal) : found;
}

ValueId Differentiator::zeros_like(ValueId primal) {
  const GraphValue& value = builder_.graph().value(primal);
  Attributes attributes{{"shape", value.type.shape},
                        {"value", 0.0},
                        {"dtype", std::string(info(value.type.dtype).name)}};
  const std::vector<std::string> labels = value.labels;
  const ValueId zeros = builder_.emit(Op::constant, {}, std::move(attributes));
  builder_.graph().values[index_of(zeros)].labels = labels;
  return zeros;
}

void Differentiator::walk(const std::vector<NodeId>& nodes) {
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = builder_.graph().node(*id);
    const auto has_cotangent = [this](ValueId v) {
      return cotangent_[index_of(v)] != ValueId::none;
    };
    const auto is_active = [this](ValueId v) { return active_[index_of(v)] != 0; };
    if (std::none_of(node.results.begin(), node.results.end(), has_cotangent)) continue;
    if (std::none_of(node.operands.begin(), node.operands.end(), is_active)) continue;
    builder_.origin = {node.name, node.at, Phase::backward, node.iteration};
    const std::size_t before = builder_.graph().region(builder_.region()).nodes.size();
    if (node.region != RegionId::none) {
      LoopDerivative(*this, *id).run();
    } else {
      step(*id);
    }
    rematerializer_.serve(before);
  }
}

namespace {

[[noreturn]] void refuse_derivative(const Node& node) {
  throw Error("no-derivative", node.at,
              std::string(def(node.op).name) + (node.name.empty() ? "" : " '" + node.name + "'") +
                  " has no derivative, and the loss depends on parameters through it",
              "stop_gradient before it makes it a constant; a custom_call has the derivative of "
              "the op that `as` names");
}

}  // namespace

void Differentiator::step(NodeId id) {
  // Taken out while the derivative runs: emitting moves the vectors of the graph.
  Node node = std::move(builder_.graph().nodes[index_of(id)]);
  const Derivative derivative = def(node.op).derivative;
  std::vector<ValueId> cotangents;
  for (const ValueId result : node.results) cotangents.push_back(cotangent_[index_of(result)]);
  std::vector<char> wanted;
  for (const ValueId operand : node.operands) wanted.push_back(active_[index_of(operand)]);
  const std::size_t first_new = builder_.graph().nodes.size();
  const std::vector<ValueId> answer = derivative == nullptr
                                          ? std::vector<ValueId>()
                                          : derivative({builder_, node.attributes, node.operands,
                                                        node.results, cotangents, wanted});
  if (answer.size() != node.operands.size()) refuse_derivative(node);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (wanted[i] && answer[i] != ValueId::none) accumulate(node.operands[i], answer[i]);
  }
  builder_.graph().nodes[index_of(id)] = std::move(node);
  label_new_nodes(first_new);
}

/// Values on the way to a cotangent get their labels by the ops' rules.
void Differentiator::label_new_nodes(std::size_t first) {
  Graph& graph = builder_.graph();
  for (std::size_t i = first; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.results.size() != 1) continue;
    GraphValue& value = graph.values[index_of(node.results.front())];
    const auto is_empty = [](const std::string& label) { return label.empty(); };
    if (!std::all_of(value.labels.begin(), value.labels.end(), is_empty)) continue;
    value.labels =
        result_labels(graph, node.op, node.operands, {&value.type, 1}, node.attributes).front();
  }
}

std::vector<ValueId> differentiate(Graph& graph, ValueId scalar, const std::vector<ValueId>& wrt) {
  return differentiate(graph, scalar, wrt, {});
}

std::vector<ValueId> differentiate(Graph& graph, ValueId scalar, const std::vector<ValueId>& wrt,
                                   std::vector<RematRange> remats) {
  const TensorType type = graph.value(scalar).type;
  SHARD_CHECK(type.rank() == 0 && info(type.dtype).is_float, "the loss is a floating-point scalar");
  Differentiator differentiator(graph, wrt, std::move(remats));
  const NodeId producer = graph.value(scalar).producer;
  if (producer != NodeId::none) {
    const Node& node = graph.node(producer);
    differentiator.builder().origin = {node.name, node.at, Phase::backward, {}};
  }
  const std::vector<NodeId> nodes = graph.body().nodes;
  const ValueId one = differentiator.builder().emit(
      Op::constant, {},
      Attributes{
          {"shape", Shape{}}, {"value", 1.0}, {"dtype", std::string(info(type.dtype).name)}});
  differentiator.accumulate(scalar, one);
  differentiator.walk(nodes);
  std::vector<ValueId> gradients;
  gradients.reserve(wrt.size());
  for (const ValueId id : wrt) gradients.push_back(differentiator.cotangent_or_zeros(id));
  return gradients;
}

}  // namespace shard
