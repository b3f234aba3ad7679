#include "shard/propagate.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "shard/fixed_point.h"
#include "shard/split_constants.h"

namespace shard {
namespace {

std::string axes_text(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ", ") + to_string(mesh, axis);
  return text;
}

/// Turns what happened to slots into reasons of values.
class Explainer {
 public:
  Explainer(const Graph& graph, const Mesh& mesh, const FlowGraph& flow)
      : graph_(graph), mesh_(mesh), flow_(flow), output_of_(flow.slots.size(), -1) {
    for (std::size_t i = 0; i < flow.results.size(); ++i) {
      output_of_[static_cast<std::size_t>(flow.results[i].returned)] = static_cast<int>(i);
    }
  }

  /// Takes over the gain's axes.
  Reason reason_of(Gain&& gain) const {
    Reason reason;
    reason.axes = std::move(gain.axes);
    reason.from = gain.from < 0 ? ValueId::none : slot(gain.from).value;
    if (gain.node >= 0) {
      const FlowNode& node = flow_.nodes[static_cast<std::size_t>(gain.node)];
      reason.kind = ReasonKind::propagated;
      reason.via = node.origin;
      reason.label = label_of(node, gain.factor);
      return reason;
    }
    reason.kind = ReasonKind::output;
    reason.output = output_of_[static_cast<std::size_t>(gain.slot)];
    if (reason.output >= 0) {
      const auto& placement = graph_.outputs[static_cast<std::size_t>(reason.output)].placement;
      if (placement) reason.at = placement->at;
    }
    return reason;
  }

  /// Nothing when the loser is a constant, which costs nothing to make again, or a function result.
  std::optional<Conflict> conflict_of(const FlowConflict& found, bool is_constant) const {
    const FlowNode& node = flow_.nodes[static_cast<std::size_t>(found.node)];
    const ValueId loser = slot(found.slot).value;
    if (is_constant || loser == ValueId::none) return std::nullopt;
    Conflict conflict;
    conflict.via = node.origin;
    conflict.loser = loser;
    conflict.dim = found.dim;
    conflict.axes = found.axes;
    conflict.from = slot(found.from).value;
    conflict.label = label_of(node, found.factor);
    conflict.why = why(found);
    return conflict;
  }

 private:
  const FlowSlot& slot(int number) const { return flow_.slots[static_cast<std::size_t>(number)]; }

  std::string why(const FlowConflict& found) const {
    const Axes& own = slot(found.slot).sharding.dims[static_cast<std::size_t>(found.dim)].axes;
    if (found.other_dim >= 0 && found.other_dim != found.dim) {
      return "dim " + std::to_string(found.other_dim) + " has " +
             axes_text(mesh_, {found.axes.front()}) + " already";
    }
    if (found.is_closed) {
      return own.empty() ? "its sharding is given: whole"
                         : "its sharding is given: " + axes_text(mesh_, own);
    }
    if (!own.empty()) return "it is split over " + axes_text(mesh_, own);
    return "nothing offered them in a direction the op allows";
  }

  /// The first label among the dims that are this factor, operands first.
  std::string label_of(const FlowNode& node, int factor) const {
    const FactorRule& rule = flow_.rules[static_cast<std::size_t>(node.rule)];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::string_view label = label_in(node.operands[i], rule.operands[i], factor);
      if (!label.empty()) return std::string(label);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const std::string_view label = label_in(node.results[i], rule.results[i], factor);
      if (!label.empty()) return std::string(label);
    }
    return {};
  }

  std::string_view label_in(int number, const TensorFactors& layout, int factor) const {
    const ValueId value = slot(number).value;
    if (value == ValueId::none) return {};
    const std::vector<std::string>& labels = graph_.value(value).labels;
    for (std::size_t dim = 0; dim < layout.size() && dim < labels.size(); ++dim) {
      if (layout[dim].size() == 1 && layout[dim].front() == factor) return labels[dim];
    }
    return {};
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const FlowGraph& flow_;
  std::vector<int> output_of_;  ///< by slot: the output that returns it, -1 for none
};

bool is_same(const Conflict& a, const Conflict& b) {
  return a.via == b.via && a.loser == b.loser && a.dim == b.dim && a.axes == b.axes;
}

/// Reasons by slot, dim and order; takes over the gains.
std::vector<ValueReasons> reasons_of_slots(const FlowGraph& flow, FlowOutcome& outcome,
                                           const Explainer& explainer) {
  std::vector<ValueReasons> reasons(flow.slots.size());
  for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i].resize(flow.slots[i].shape.size());
  std::size_t level = 0;
  for (std::size_t i = 0; i < outcome.gains.size(); ++i) {
    Gain& gain = outcome.gains[i];
    while (level + 1 < outcome.gains_until.size() && i >= outcome.gains_until[level]) ++level;
    std::vector<Reason>& own =
        reasons[static_cast<std::size_t>(gain.slot)][static_cast<std::size_t>(gain.dim)];
    own.push_back(explainer.reason_of(std::move(gain)));
    own.back().step = static_cast<int>(i) + 1;
    own.back().level = static_cast<int>(level);
  }
  return reasons;
}

/// What slots have goes to the values they were made for; a loop's carry parameter, which shares
/// the slot of the final value, gets a copy. `of_constant(rank)`: what a value without a slot has.
template <class Fact>
std::vector<Fact> by_value(const Graph& graph, const GraphFlow& made, const auto& slot_fact,
                           const auto& of_constant) {
  std::vector<Fact> facts(graph.values.size());
  const auto owner = [&](int slot) {
    return index_of(made.flow.slots[static_cast<std::size_t>(slot)].value);
  };
  for (std::size_t value = 0; value < facts.size(); ++value) {
    const int slot = made.slot_of[value];
    if (slot < 0) {
      facts[value] = of_constant(graph.values[value].type.rank());
    } else if (owner(slot) != value) {
      facts[value] = slot_fact(static_cast<std::size_t>(slot));
    }
  }
  for (std::size_t value = 0; value < facts.size(); ++value) {
    const int slot = made.slot_of[value];
    if (slot < 0 || owner(slot) != value) continue;
    facts[value] = std::move(slot_fact(static_cast<std::size_t>(slot)));
  }
  return facts;
}

}  // namespace

Propagation propagate(Graph graph, const Mesh& mesh, const GivenShardings& given) {
  GraphFlow made = flow_of(graph, given);
  FlowOutcome outcome = reach_fixed_point(made.flow);
  const Explainer explainer(graph, mesh, made.flow);
  std::vector<ValueReasons> by_slot = reasons_of_slots(made.flow, outcome, explainer);

  Propagation done;
  done.reasons = by_value<ValueReasons>(
      graph, made, [&](std::size_t slot) -> ValueReasons& { return by_slot[slot]; },
      [](int rank) { return ValueReasons(static_cast<std::size_t>(rank)); });
  for (const FlowResult& result : made.flow.results) {
    done.results.push_back(made.flow.slots[static_cast<std::size_t>(result.result)].sharding);
  }
  for (const FlowConflict& found : outcome.conflicts) {
    const ValueId loser = made.flow.slots[static_cast<std::size_t>(found.slot)].value;
    const bool is_constant = loser != ValueId::none && made.slot_of[index_of(loser)] < 0;
    std::optional<Conflict> conflict = explainer.conflict_of(found, is_constant);
    if (!conflict || (!done.conflicts.empty() && is_same(done.conflicts.back(), *conflict))) {
      continue;
    }
    done.conflicts.push_back(std::move(*conflict));
  }
  // From here on only the slots of constants are looked at.
  done.shardings = by_value<Sharding>(
      graph, made, [&](std::size_t slot) -> Sharding& { return made.flow.slots[slot].sharding; },
      replicated_sharding);
  split_constants(graph, made, done.shardings);
  for (std::size_t value = done.reasons.size(); value < graph.values.size(); ++value) {
    done.reasons.emplace_back(graph.values[value].type.shape.size());
  }
  done.graph = std::move(graph);
  return done;
}

}  // namespace shard
