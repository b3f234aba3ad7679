#include "shard/graph_flow.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

FlowKind kind_of(const OpDef& row) {
  switch (row.pass_class) {
    case PassClass::pass_through:
      return row.is_elementwise ? FlowKind::elementwise : FlowKind::data_movement;
    case PassClass::broadcast_like:
      return FlowKind::broadcast;
    case PassClass::slice_like:
      return FlowKind::slice;
    case PassClass::other:
      break;
  }
  return FlowKind::other;
}

bool is_known(const Sharding& sharding) {
  return !sharding.replicated.empty() || !sharding.unreduced.empty() ||
         std::any_of(sharding.dims.begin(), sharding.dims.end(),
                     [](const DimSharding& dim) { return !dim.is_open || !dim.axes.empty(); });
}

std::vector<int> numbers_of(const std::vector<ValueId>& values) {
  std::vector<int> numbers;
  numbers.reserve(values.size());
  for (const ValueId value : values) numbers.push_back(static_cast<int>(value));
  return numbers;
}

/// Between a stacked array and one iteration's slice: the leading dim stays whole.
TensorFactors stacked_layout(std::size_t rank) {
  TensorFactors layout(rank);
  for (std::size_t dim = 0; dim < rank; ++dim) layout[dim] = {static_cast<int>(dim)};
  return layout;
}

FactorRule slice_rule(const Shape& stacked, bool is_output) {
  FactorRule rule;
  for (const std::int64_t size : stacked) rule.factors.push_back({size, {}, false});
  rule.factors.front() = {stacked.front(), FactorKind::need_replication, true};
  const TensorFactors whole = stacked_layout(stacked.size());
  const TensorFactors part(whole.begin() + 1, whole.end());
  rule.operands = {is_output ? part : whole};
  rule.results = {is_output ? whole : part};
  return rule;
}

/// One rule for all nodes of the same op on the same shapes with the same attributes: working a
/// rule out costs more than propagating through it, and layers repeat.
class SharedRules {
 public:
  explicit SharedRules(const Graph& graph) : graph_(graph) {}

  int rule(const Node& node, FlowBuilder& builder) {
    key_.assign(1, static_cast<std::int64_t>(node.op));
    for (const ValueId operand : node.operands) add(operand);
    for (const ValueId result : node.results) add(result);
    std::vector<Made>& alike = made_[key_];
    for (const Made& one : alike) {
      if (*one.attributes == node.attributes) return one.rule;
    }
    alike.push_back({&node.attributes, builder.add_rule(rule_of(graph_, node))});
    return alike.back().rule;
  }

 private:
  struct Made {
    const Attributes* attributes = nullptr;
    int rule = 0;
  };

  void add(ValueId value) {
    const Shape& shape = graph_.value(value).type.shape;
    key_.push_back(static_cast<std::int64_t>(shape.size()));
    key_.insert(key_.end(), shape.begin(), shape.end());
  }

  const Graph& graph_;
  std::map<std::vector<std::int64_t>, std::vector<Made>> made_;  ///< by op, ranks and sizes
  std::vector<std::int64_t> key_;
};

class GraphWalk {
 public:
  GraphWalk(const Graph& graph, const GivenShardings& given)
      : graph_(graph), given_(given), rules_(graph) {}

  GraphFlow run() {
    for (const ValueId value : graph_.body().parameters) define(value);
    walk(graph_.body());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Sharding& result = given_.results[i];
      const ValueId value = graph_.outputs[i].value;
      builder_.add_result(static_cast<int>(value), is_known(result) ? &result : nullptr);
      note_constant({ConstantUse::Kind::output, NodeId::none, i, value,
                     builder_.graph().results.back().returned});
    }
    GraphFlow made;
    made.constant_uses = std::move(constant_uses_);
    made.slot_of.reserve(graph_.values.size());
    for (std::size_t value = 0; value < graph_.values.size(); ++value) {
      made.slot_of.push_back(builder_.slot(static_cast<int>(value)));
    }
    made.flow = builder_.finish();
    return made;
  }

 private:
  const Shape& shape_of(ValueId value) const { return graph_.value(value).type.shape; }

  int define(ValueId value) {
    const Sharding& given = given_.values[index_of(value)];
    return builder_.define(static_cast<int>(value), shape_of(value),
                           is_known(given) ? &given : nullptr);
  }

  void walk(const Region& region) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      if (node.region != RegionId::none) {
        walk_loop(id, node);
      } else if (is_constant(node)) {
        define_constant(id, node);
      } else {
        walk_op(id, node);
      }
    }
  }

  /// Constants and what elementwise ops, broadcasts, reshapes and slices make of them.
  bool is_constant(const Node& node) const {
    const OpDef& row = def(node.op);
    if (row.factor_rule == nullptr) return node.operands.empty();
    const bool derives = node.op != Op::constrain && node.results.size() == 1 &&
                         (row.is_elementwise || row.pass_class == PassClass::broadcast_like ||
                          row.derives_constants);
    return derives && std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId value) {
             return builder_.is_constant(static_cast<int>(value));
           });
  }

  void define_constant(NodeId id, const Node& node) {
    const int rule = node.operands.empty() ? -1 : rules_.rule(node, builder_);
    const ValueId value = node.results.front();
    builder_.define_constant(static_cast<int>(value), shape_of(value), kind_of(def(node.op)), rule,
                             numbers_of(node.operands), id);
  }

  void walk_op(NodeId id, const Node& node) {
    std::vector<int> operands = uses(id, node.operands);
    if (node.op == Op::constrain) {
      define_constrained(node, operands.front());
    } else {
      for (const ValueId result : node.results) define(result);
    }
    SHARD_CHECK(def(node.op).factor_rule != nullptr, "an op with operands has a factor rule");
    builder_.add_node(kind_of(def(node.op)), rules_.rule(node, builder_), std::move(operands),
                      slots(node.results), id);
  }

  void define_constrained(const Node& node, int operand) {
    const auto placement = static_cast<std::size_t>(node.attributes.integer("placement"));
    const Sharding& wanted = given_.constraints[placement];
    const ValueId result = node.results.front();
    builder_.define(static_cast<int>(result), shape_of(result), &wanted);
    builder_.constrain(operand, wanted);
  }

  void walk_loop(NodeId id, const Node& node) {
    const Region& body = graph_.region(node.region);
    const std::size_t carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const std::size_t stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    const std::vector<int> operands = uses(id, node.operands);
    for (const ValueId result : node.results) define(result);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      enter(id, i < carries ? node.results[i] : ValueId::none, operands[i], body.parameters[i],
            i < carries + stacked);
    }
    walk(body);
    for (std::size_t i = 0; i < body.results.size(); ++i) {
      const int next = builder_.use(static_cast<int>(body.results[i]));
      note_constant({ConstantUse::Kind::region_result, id, i, body.results[i], next});
      const int result = builder_.slot(static_cast<int>(node.results[i]));
      if (i < carries) {
        builder_.add_edge({operands[i], next}, result, id);
      } else {
        const int rule = builder_.add_rule(slice_rule(shape_of(node.results[i]), true));
        builder_.add_node(FlowKind::slice, rule, {next}, {result}, id);
      }
    }
  }

  /// A region parameter: a carry is the loop's result itself, a slice is cut from the stacked
  /// array, anything else is the outer value behind an edge.
  void enter(NodeId id, ValueId carried, int operand, ValueId parameter, bool is_slice) {
    if (carried != ValueId::none) {
      builder_.alias(static_cast<int>(parameter), static_cast<int>(carried));
      return;
    }
    const int inside = define(parameter);
    if (is_slice) {
      const Shape& stacked = builder_.graph().slots[static_cast<std::size_t>(operand)].shape;
      const int rule = builder_.add_rule(slice_rule(stacked, false));
      builder_.add_node(FlowKind::slice, rule, {operand}, {inside}, id);
    } else {
      builder_.add_edge({operand}, inside, id);
    }
  }

  std::vector<int> uses(NodeId node, const std::vector<ValueId>& values) {
    std::vector<int> made;
    made.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      made.push_back(builder_.use(static_cast<int>(values[i])));
      note_constant({ConstantUse::Kind::operand, node, i, values[i], made.back()});
    }
    return made;
  }

  void note_constant(const ConstantUse& use) {
    if (builder_.is_constant(static_cast<int>(use.value))) constant_uses_.push_back(use);
  }

  std::vector<int> slots(const std::vector<ValueId>& values) const {
    std::vector<int> made;
    made.reserve(values.size());
    for (const ValueId value : values) made.push_back(builder_.slot(static_cast<int>(value)));
    return made;
  }

  const Graph& graph_;
  const GivenShardings& given_;
  FlowBuilder builder_;
  SharedRules rules_;
  std::vector<ConstantUse> constant_uses_;
};

}  // namespace

GraphFlow flow_of(const Graph& graph, const GivenShardings& given) {
  return GraphWalk(graph, given).run();
}

}  // namespace shard
