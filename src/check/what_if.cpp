#include "check/what_if.h"

#include <algorithm>
#include <utility>

#include "check/mesh_use.h"

namespace shard {
namespace {

/// Asks the rules again and again.
class Trials {
 public:
  Trials(const Model& model, const RulesConfig& rules, const Mesh& mesh, const AskedArray& array)
      : model_(model), rules_(rules), mesh_(mesh), array_(array), classes_(model.state) {}

  RuleTrial with_rule(const RuleConfig& rule, int instead_of, int axis) const {
    RulesConfig rules = rules_;
    if (instead_of > 0) rules.rules.erase(rules.rules.begin() + (instead_of - 1));
    rules.rules.push_back(rule);
    RuleTrial trial;
    trial.rule = '[' + rule.logical.text() + ", " + target_of(rule) + ']';
    trial.instead_of = instead_of;
    trial.axis = mesh_.axes()[static_cast<std::size_t>(axis)].name.text();
    trial.size = mesh_.size(axis);
    Diagnostics mistakes;
    const ResolvedState state = resolve_state(model_.state, classes_, rules, mesh_, mistakes);
    const Resolved resolved =
        Resolver(rules, mesh_, mistakes)
            .resolve({array_.placement, array_.type, array_.part, array_.path});
    if (mistakes.has_errors()) {
      trial.refusal = mistakes.all().front().id;
      return trial;
    }
    trial.spec = spec_text(mesh_, resolved.sharding);
    trial.array = bytes_of({array_.type.dtype, local_shape(array_.type.shape, resolved.sharding)});
    trial.state = state_bytes(model_.state, state);
    return trial;
  }

 private:
  static std::string target_of(const RuleConfig& rule) {
    std::string text;
    for (const MeshAxis& axis : rule.target.axes) text += (text.empty() ? "" : ", ") + axis.text();
    return rule.target.axes.size() > 1 ? '[' + text + ']' : text;
  }

  const Model& model_;
  const RulesConfig& rules_;
  const Mesh& mesh_;
  const AskedArray& array_;
  StateClasses classes_;
};

std::vector<int> free_axes(const Mesh& mesh, const Sharding& sharding) {
  const std::set<int> used = axes_of(sharding);
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) > 1 && !used.contains(axis)) axes.push_back(axis);
  }
  return axes;
}

bool is_open_to_rules(const RuleDecision& decision, std::size_t dim) {
  return decision.names.names[dim] && decision.dims[dim].rule == 0;
}

}  // namespace

std::vector<RuleTrial> rule_trials(const Model& model, const RulesConfig& rules, const Mesh& mesh,
                                   const AskedArray& array, const RuleDecision& decision) {
  const Trials trials(model, rules, mesh, array);
  bool has_undecided = false;
  for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
    has_undecided = has_undecided || is_open_to_rules(decision, dim);
  }
  const std::string before = spec_text(mesh, array.sharding);
  std::vector<RuleTrial> found;
  for (const int axis : free_axes(mesh, array.sharding)) {
    const MeshAxis& name = mesh.axes()[static_cast<std::size_t>(axis)].name;
    for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
      const DimDecision& decided = decision.dims[dim];
      const bool is_general = decided.rule <= static_cast<int>(rules.rules.size());
      if (!decision.names.names[dim] || has_undecided != (decided.rule == 0) || !is_general)
        continue;
      RuleConfig rule{*decision.names.names[dim], decided.target, {}};
      rule.target.axes.push_back(name);
      RuleTrial trial = trials.with_rule(rule, decided.rule, axis);
      if (!trial.refusal.empty() || trial.spec != before) found.push_back(std::move(trial));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const RuleTrial& a, const RuleTrial& b) {
    return std::pair(!a.refusal.empty(), a.state) < std::pair(!b.refusal.empty(), b.state);
  });
  return found;
}

Bytes state_bytes(std::span<const StateLeaf> state, const ResolvedState& resolved) {
  Bytes bytes;
  for (const ResolvedClass& one : resolved.classes) {
    const TensorType& type = state[static_cast<std::size_t>(one.leaves.front())].type;
    bytes += one.count * bytes_of({type.dtype, local_shape(type.shape, one.resolved.sharding)});
  }
  return bytes;
}

}  // namespace shard
