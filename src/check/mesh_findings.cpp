#include <algorithm>
#include <map>
#include <set>

#include "base/nearest.h"
#include "check/finders.h"
#include "check/mesh_use.h"
#include "check/saving.h"

namespace shard {
namespace {

std::set<int> axes_used_by_anything(const ShardedGraph& sharded) {
  std::set<int> used;
  for (const Sharding& sharding : sharded.shardings) used.merge(axes_of(sharding));
  for (const Sharding& sharding : sharded.output_shardings) used.merge(axes_of(sharding));
  return used;
}

/// Why nothing uses the axis: the rule that would bring it, or that there is none.
std::string cause_of(const PlanFacts& facts, const MeshAxis& axis) {
  for (std::size_t i = 0; i < facts.rules.rules.size(); ++i) {
    const RuleConfig& rule = facts.rules.rules[i];
    const auto& axes = rule.target.axes;
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
    const std::string rule_text =
        "rule " + std::to_string(i + 1) + " brings it to '" + rule.logical.text() + "'";
    return facts.sharded.rule_uses[i].named == 0 ? rule_text + ", which no array has"
                                                 : rule_text + ", but never decides";
  }
  return "no rule brings it to a logical axis";
}

/// `; model splits only hidden`: what the axes are used for instead.
std::string uses_text(const ShardedGraph& sharded) {
  std::string text;
  for (const MeshAxisInfo& axis : sharded.mesh.axes()) {
    std::set<std::string> names;
    for (const RuleDecision& decision : sharded.decisions) {
      for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
        const auto& axes = decision.dims[dim].target.axes;
        const bool is_used = std::find(axes.begin(), axes.end(), axis.name) != axes.end();
        if (is_used && decision.names.names[dim]) names.insert(decision.names.names[dim]->text());
      }
    }
    if (axis.size <= 1 || names.empty()) continue;
    text += "; " + axis.name.text() + " splits only";
    for (const std::string& name : names) text += (name == *names.begin() ? " " : ", ") + name;
  }
  return text;
}

/// The rule for the axis that would save most: of a name that no rule decides.
std::string rule_for(const PlanFacts& facts, const MeshAxis& axis) {
  PartitionEntry target;
  target.axes.push_back(axis);
  std::map<std::string, Bytes> by_name;
  for (const auto& [number, leaves] : leaves_by_decision(facts.sharded, facts.model)) {
    const RuleDecision& decision = facts.sharded.decisions[static_cast<std::size_t>(number)];
    for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
      if (decision.dims[dim].rule > 0 || !decision.names.names[dim]) continue;
      for (const PlacedLeaf& leaf : leaves) {
        const auto axes = free_axes(facts.sharded.mesh, leaf, target);
        const auto bytes = saving(facts.sharded.mesh, leaf, dim, axes);
        if (bytes) by_name[decision.names.names[dim]->text()] += *bytes;
      }
    }
  }
  const auto most =
      std::max_element(by_name.begin(), by_name.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by_name.end()) return "";
  return "the rule [" + most->first + ", " + axis.text() + ']';
}

}  // namespace

std::set<int> axes_of(const Sharding& sharding) {
  std::set<int> axes;
  for (const DimSharding& dim : sharding.dims) {
    for (const AxisRef& ref : dim.axes) {
      if (ref.size > 1) axes.insert(ref.axis);
    }
  }
  return axes;
}

std::set<int> axes_of_inputs(const ShardedGraph& sharded, bool state) {
  std::set<int> axes;
  for (const GraphInput& input : sharded.graph.inputs) {
    if ((input.state_leaf >= 0) == state) axes.merge(axes_of(sharded.sharding(input.value)));
  }
  return axes;
}

bool is_for_values(const PlanFacts& facts, const MeshAxis& axis) {
  if (facts.model.has_program) return false;
  std::vector<std::string> unmatched;
  for (const auto& [name, at] : facts.sharded.unmatched) unmatched.push_back(name.text());
  for (std::size_t i = 0; i < facts.rules.rules.size(); ++i) {
    const RuleConfig& rule = facts.rules.rules[i];
    const auto& axes = rule.target.axes;
    const bool has_axis = std::find(axes.begin(), axes.end(), axis) != axes.end();
    // A near miss is a misspelt name rather than one of values.
    const bool is_of_values = facts.sharded.rule_uses[i].named == 0;
    if (has_axis && is_of_values && !nearest(rule.logical.text(), unmatched)) return true;
  }
  return false;
}

std::vector<Finding> find_axes_unused(const PlanFacts& facts, const FindingKind& kind) {
  const std::set<int> used = axes_used_by_anything(facts.sharded);
  std::vector<Finding> found;
  const auto& axes = facts.sharded.mesh.axes();
  for (std::size_t position = 0; position < axes.size(); ++position) {
    const MeshAxisInfo& axis = axes[position];
    if (axis.size <= 1 || used.contains(static_cast<int>(position))) continue;
    const std::string size = std::to_string(axis.size);
    const bool is_expected = is_for_values(facts, axis.name);
    found.push_back({is_expected ? Severity::note : kind.severity, std::string(kind.id), axis.at,
                     "no array uses " + axis.name.text() + " (" + size + "), so " + size +
                         " devices at a time do the same work: " + cause_of(facts, axis.name),
                     rule_for(facts, axis.name), Bytes(0)});
  }
  return found;
}

std::vector<Finding> find_no_input_split(const PlanFacts& facts, const FindingKind& kind) {
  const auto& inputs = facts.sharded.graph.inputs;
  const auto first = std::find_if(inputs.begin(), inputs.end(), [](const GraphInput& input) {
    return input.role == Role::input;
  });
  if (first == inputs.end() || facts.sharded.mesh.device_count() == 1) return {};
  if (!axes_of_inputs(facts.sharded, false).empty()) return {};
  return {{kind.severity, std::string(kind.id), facts.sharded.graph.value(first->value).at,
           "no input is split: each of the " + with_commas(facts.sharded.mesh.device_count()) +
               " devices takes the whole batch" + uses_text(facts.sharded),
           "split a dim of " + first->path + " over a mesh axis", Bytes(0)}};
}

}  // namespace shard
