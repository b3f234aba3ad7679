#include "model/remat.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

bool keeps_nothing(const Node& /*node*/) { return false; }

bool keeps_products(const Node& node) { return node.op == Op::dot; }

bool keeps_weight_products(const Node& node) {
  return node.op == Op::dot && node.attributes.integers("lhs_batch").empty();
}

struct PolicyRow {
  std::string_view word;
  KeepsNode keeps;  ///< nullptr: everything is kept
};
constexpr std::array<PolicyRow, 4> policies = {{
    {"none", nullptr},
    {"full", keeps_nothing},
    {"dots", keeps_products},
    {"dots_no_batch", keeps_weight_products},
}};

}  // namespace

KeepsNode remat_policy(std::string_view word) {
  for (const PolicyRow& row : policies) {
    if (row.word == word) return row.keeps;
  }
  throw InternalError("the reader knows the words of policies");
}

Rematerializer::Rematerializer(GraphBuilder& builder, std::vector<RematRange> ranges)
    : builder_(builder) {
  // A range that holds others ends after them and begins before them.
  std::sort(ranges.begin(), ranges.end(), [](const RematRange& a, const RematRange& b) {
    return std::pair(a.first, b.end) < std::pair(b.first, a.end);
  });
  for (const RematRange& range : ranges) {
    if (range.first == range.end) continue;
    if (ranges_.empty() || range.first >= ranges_.back().end) ranges_.push_back(range);
  }
  if (!ranges_.empty()) keep_what_leaves();
}

void Rematerializer::keep_what_leaves() {
  const std::vector<Node>& nodes = builder_.graph().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const ValueId operand : nodes[i].operands) {
      const RematRange* range = range_of(operand);
      const NodeId user = id_at<NodeId>(i);
      const bool is_inside = range == nullptr || (user >= range->first && user < range->end);
      if (!is_inside) kept_.insert(operand);
    }
  }
}

/// The range whose nodes make the value, or nullptr.
const RematRange* Rematerializer::range_of(ValueId value) const {
  const NodeId producer = builder_.graph().value(value).producer;
  if (producer == NodeId::none) return nullptr;
  auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), producer,
                       [](NodeId node, const RematRange& range) { return node < range.first; });
  if (after == ranges_.begin()) return nullptr;
  --after;
  return producer < after->end ? &*after : nullptr;
}

ValueId Rematerializer::remade(ValueId value) {
  if (const auto known = copies_.find(value); known != copies_.end()) return known->second;
  const RematRange* range = range_of(value);
  if (range == nullptr || kept_.contains(value)) return value;
  const Node node = builder_.graph().node(builder_.graph().value(value).producer);
  if (node.region != RegionId::none || range->keeps(node)) return value;
  std::vector<ValueId> operands;
  for (const ValueId operand : node.operands) operands.push_back(remade(operand));
  builder_.origin = {node.name, node.at, Phase::backward, node.iteration};
  const std::vector<ValueId> results = builder_.emit_all(node.op, operands, node.attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<GraphValue>& values = builder_.graph().values;
    values[index_of(results[i])].labels = values[index_of(node.results[i])].labels;
    copies_.emplace(node.results[i], results[i]);
  }
  return copies_.at(value);
}

void Rematerializer::serve(std::size_t first) {
  if (ranges_.empty()) return;
  Graph& graph = builder_.graph();
  const auto list = [&]() -> std::vector<NodeId>& {
    return graph.regions[index_of(builder_.region())].nodes;
  };
  const std::vector<NodeId> users(list().begin() + static_cast<std::ptrdiff_t>(first),
                                  list().end());
  const NodeOrigin origin = builder_.origin;
  for (const NodeId user : users) {
    for (std::size_t i = 0; i < graph.node(user).operands.size(); ++i) {
      const ValueId copy = remade(graph.node(user).operands[i]);
      graph.nodes[index_of(user)].operands[i] = copy;
    }
  }
  builder_.origin = origin;
  const auto begin = list().begin() + static_cast<std::ptrdiff_t>(first);
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(users.size()), list().end());
}

}  // namespace shard
