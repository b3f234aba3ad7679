#include "shard/split_constants.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace shard {
namespace {

class Splitter {
 public:
  Splitter(Graph& graph, const GraphFlow& made, std::vector<Sharding>& shardings)
      : graph_(graph), made_(made), shardings_(shardings) {
    for (std::size_t i = 0; i < made.flow.nodes.size(); ++i) {
      const FlowNode& node = made.flow.nodes[i];
      if (!node.results.empty()) node_of_[node.results.front()] = i;
    }
  }

  void run() {
    for (const ConstantUse& use : made_.constant_uses) place(use) = value_for(use.value, use.slot);
    for (const ConstantUse& use : made_.constant_uses) {
      if (use.kind != ConstantUse::Kind::output) continue;
      graph_.regions.front().results[use.position] = graph_.outputs[use.position].value;
    }
    if (copies_.empty()) return;
    for (Region& region : graph_.regions) insert_copies(region);
  }

 private:
  ValueId& place(const ConstantUse& use) {
    if (use.kind == ConstantUse::Kind::output) return graph_.outputs[use.position].value;
    Node& node = graph_.nodes[index_of(use.node)];
    if (use.kind == ConstantUse::Kind::operand) return node.operands[use.position];
    return graph_.regions[index_of(node.region)].results[use.position];
  }

  /// The value that holds constant `value` with the sharding of `slot`.
  ValueId value_for(ValueId value, int slot) {
    const Sharding wanted = closed(made_.flow.slots[static_cast<std::size_t>(slot)].sharding);
    std::vector<ValueId>& versions = versions_[value];
    for (const ValueId version : versions) {
      if (shardings_[index_of(version)] == wanted) return version;
    }
    const ValueId version = versions.empty() ? value : copy(value);
    versions_[value].push_back(version);
    shardings_[index_of(version)] = wanted;
    connect(graph_.value(version).producer, slot);
    return version;
  }

  ValueId copy(ValueId value) {
    const NodeId original = graph_.value(value).producer;
    const ValueId version = id_at<ValueId>(graph_.values.size());
    const NodeId node = id_at<NodeId>(graph_.nodes.size());
    graph_.values.push_back(GraphValue(graph_.value(value)));
    graph_.values.back().producer = node;
    graph_.nodes.push_back(Node(graph_.node(original)));
    graph_.nodes.back().results = {version};
    shardings_.emplace_back();
    copies_[original].push_back(node);
    return version;
  }

  /// Points the operands of a constant's node at versions that suit this use.
  void connect(NodeId id, int slot) {
    const auto found = node_of_.find(slot);
    if (found == node_of_.end()) return;
    const FlowNode& node = made_.flow.nodes[found->second];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const int operand = node.operands[i];
      const ValueId value = made_.flow.slots[static_cast<std::size_t>(operand)].value;
      const ValueId version = value_for(value, operand);
      graph_.nodes[index_of(id)].operands[i] = version;
    }
  }

  /// Each behind its original.
  void insert_copies(Region& region) const {
    std::vector<NodeId> nodes;
    for (const NodeId node : region.nodes) {
      nodes.push_back(node);
      const auto copies = copies_.find(node);
      if (copies != copies_.end())
        nodes.insert(nodes.end(), copies->second.begin(), copies->second.end());
    }
    region.nodes = std::move(nodes);
  }

  Graph& graph_;
  const GraphFlow& made_;
  std::vector<Sharding>& shardings_;
  std::unordered_map<int, std::size_t> node_of_;                ///< by result slot
  std::unordered_map<ValueId, std::vector<ValueId>> versions_;  ///< by the original constant
  std::unordered_map<NodeId, std::vector<NodeId>> copies_;      ///< by the original node
};

}  // namespace

void split_constants(Graph& graph, const GraphFlow& made, std::vector<Sharding>& shardings) {
  Splitter(graph, made, shardings).run();
}

}  // namespace shard
