#include <algorithm>
#include <unordered_set>

#include "model/graph.h"
#include "model/guard.h"
#include "model/model.h"

namespace shard {
namespace {

/// Marks what the outputs need. Loops to a fixed point over their carries.
class Liveness {
 public:
  explicit Liveness(const Graph& graph)
      : graph_(graph), live_value_(graph.values.size()), live_node_(graph.nodes.size()) {
    for (const ValueId id : graph.body().results) need(id);
    region(graph.body());
  }

  bool needs(ValueId id) const { return live_value_[index_of(id)] != 0; }
  bool needs(NodeId id) const { return live_node_[index_of(id)] != 0; }

 private:
  void need(ValueId id) { live_value_[index_of(id)] = 1; }

  void region(const Region& region) {
    for (auto id = region.nodes.rbegin(); id != region.nodes.rend(); ++id) {
      const Node& node = graph_.node(*id);
      const auto is_needed = [this](ValueId result) { return needs(result); };
      if (!std::any_of(node.results.begin(), node.results.end(), is_needed)) continue;
      live_node_[index_of(*id)] = 1;
      if (node.region != RegionId::none) {
        loop(node);
      } else {
        for (const ValueId operand : node.operands) need(operand);
      }
    }
  }

  void loop(const Node& node) {
    const Region& body = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        // A carry is needed when it comes out, or when the next iteration reads it.
        const bool is_read = i < carries && needs(body.parameters[i]);
        if (is_read) need(node.results[i]);
        if (needs(node.results[i]) && !needs(body.results[i])) {
          need(body.results[i]);
          changed = true;
        }
        // A carry that the body hands on unread still has to come in.
        if (i < carries && needs(node.results[i])) need(body.parameters[i]);
      }
      region(body);
      for (std::size_t i = 0; i < carries; ++i) {
        changed |= needs(body.parameters[i]) && !needs(node.results[i]);
      }
    }
    if (is_guarded(node)) need(body.parameters[guard_of(node)]);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (needs(body.parameters[i])) need(node.operands[i]);
    }
  }

  const Graph& graph_;
  std::vector<char> live_value_;
  std::vector<char> live_node_;
};

/// Moves what is needed into a fresh graph, numbered in reading order.
class Compactor {
 public:
  Compactor(Graph& graph, const Liveness& liveness)
      : from_(graph), liveness_(liveness), new_id_(graph.values.size(), ValueId::none) {
    to_.values.reserve(graph.values.size());
    to_.nodes.reserve(graph.nodes.size());
  }

  void run() {
    to_.regions.emplace_back();
    Region body;
    for (GraphInput& input : from_.inputs) {
      input.value = move_value(input.value);
      body.parameters.push_back(input.value);
    }
    move_nodes(from_.body(), body);
    for (GraphOutput& output : from_.outputs) {
      output.value = new_id_[index_of(output.value)];
      body.results.push_back(output.value);
    }
    to_.regions.front() = std::move(body);
    from_.values = std::move(to_.values);
    from_.nodes = std::move(to_.nodes);
    from_.regions = std::move(to_.regions);
  }

 private:
  ValueId move_value(ValueId id) {
    const ValueId moved = id_at<ValueId>(to_.values.size());
    to_.values.push_back(std::move(from_.values[index_of(id)]));
    new_id_[index_of(id)] = moved;
    return moved;
  }

  void move_nodes(const Region& from, Region& to) {
    to.nodes.reserve(from.nodes.size());
    for (const NodeId id : from.nodes) {
      if (!liveness_.needs(id)) continue;
      const Node& node = from_.node(id);
      // It has said what it had to say when derivatives were taken.
      if (node.op == Op::stop_gradient) {
        new_id_[index_of(node.results.front())] = new_id_[index_of(node.operands.front())];
      } else {
        to.nodes.push_back(move_node(id));
      }
    }
  }

  NodeId move_node(NodeId id) {
    const NodeId moved = id_at<NodeId>(to_.nodes.size());
    to_.nodes.push_back(std::move(from_.nodes[index_of(id)]));
    Node& node = to_.nodes.back();
    if (node.region != RegionId::none) {
      move_loop(moved);
    } else {
      for (ValueId& operand : node.operands) operand = new_id_[index_of(operand)];
      for (ValueId& result : node.results) move_result(result, moved);
    }
    return moved;
  }

  void move_result(ValueId& result, NodeId node) {
    result = move_value(result);
    to_.values.back().producer = node;
  }

  void move_loop(NodeId moved) {
    Node node = std::move(to_.nodes[index_of(moved)]);
    const Region from = std::move(from_.regions[index_of(node.region)]);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    std::int64_t kept[2] = {0, 0};  // carries, stacked
    std::vector<ValueId> operands;
    std::vector<ValueId> results;
    Region to;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (!liveness_.needs(node.results[i])) continue;
      results.push_back(node.results[i]);
      move_result(results.back(), moved);
    }
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (!liveness_.needs(from.parameters[i])) continue;
      operands.push_back(new_id_[index_of(node.operands[i])]);
      to.parameters.push_back(move_value(from.parameters[i]));
      if (i < carries + stacked) ++kept[i < carries ? 0 : 1];
    }
    node.attributes.set("carries", kept[0]);
    node.attributes.set("stacked", kept[1]);
    move_nodes(from, to);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (liveness_.needs(node.results[i]))
        to.results.push_back(new_id_[index_of(from.results[i])]);
    }
    node.operands = std::move(operands);
    node.results = std::move(results);
    to_.regions.push_back(std::move(to));
    node.region = id_at<RegionId>(to_.regions.size() - 1);
    to_.nodes[index_of(moved)] = std::move(node);
  }

  Graph& from_;
  const Liveness& liveness_;
  std::vector<ValueId> new_id_;
  Graph to_;
};

/// Layers of which no forward node is needed, each once, in program order.
std::vector<std::string> dropped_layers(const Graph& graph, const Liveness& liveness) {
  const auto is_dead = [&](std::size_t i) { return !liveness.needs(id_at<NodeId>(i)); };
  std::vector<std::string> dropped;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.phase != Phase::forward || node.name.empty() || !is_dead(i)) continue;
    if (seen.insert(node.name).second) dropped.push_back(node.name);
  }
  if (dropped.empty()) return dropped;
  std::unordered_set<std::string_view> alive;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].phase == Phase::forward && !is_dead(i)) alive.insert(graph.nodes[i].name);
  }
  std::erase_if(dropped, [&](const std::string& name) { return alive.contains(name); });
  return dropped;
}

}  // namespace

std::vector<std::string> remove_dead_code(Graph& graph) {
  const Liveness liveness(graph);
  std::vector<std::string> dropped = dropped_layers(graph, liveness);
  Compactor(graph, liveness).run();
  return dropped;
}

}  // namespace shard
