#include "report/explain_array.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "check/mesh_use.h"
#include "check/resolver_answers.h"
#include "check/used_rules.h"
#include "report/why.h"

namespace shard {
namespace {

std::unordered_map<std::string, ValueId> values_by_name(const Graph& graph) {
  std::unordered_map<std::string, ValueId> by_name;
  for (const GraphInput& input : graph.inputs) by_name.emplace(input.path, input.value);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const GraphValue& value = graph.values[i];
    if (value.name.empty() || value.producer == NodeId::none) continue;
    if (graph.node(value.producer).phase != Phase::forward) continue;
    by_name.emplace(value.name, id_at<ValueId>(i));
  }
  return by_name;
}

void add_rows(const PlannedFunction& function, std::vector<ArrayRow> rows,
              std::set<std::string>& known, std::vector<NamedArray>& all) {
  const auto by_name = values_by_name(function.sharded.graph);
  for (ArrayRow& row : rows) {
    const auto value = by_name.find(row.name);
    if (value == by_name.end() || !known.insert(row.name).second) continue;
    all.push_back({std::move(row), &function, value->second});
  }
}

void add_outputs(const PlannedFunction& function, std::set<std::string>& known,
                 std::vector<NamedArray>& all) {
  std::map<std::string, ValueId> by_path;
  for (const GraphOutput& output : function.sharded.graph.outputs) {
    by_path.emplace(output.path, output.value);
  }
  for (ArrayRow& row : output_rows(function)) {
    const ValueId value = by_path.at(row.name);
    if (known.insert(row.name).second) all.push_back({std::move(row), &function, value});
  }
}

std::string axes_and_sizes(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  std::string text;
  for (const AxisRef& axis : axes) {
    text +=
        (text.empty() ? "" : " x ") + to_string(mesh, axis) + " (" + with_commas(axis.size) + ')';
  }
  return text;
}

std::string reason_text(const ShardedGraph& sharded, ValueId value, const Reason& reason) {
  const std::string logical = reason.logical.text();
  switch (reason.kind) {
    case ReasonKind::rule:
      return "rule " + std::to_string(reason.rule) + comma_place(reason.at);
    case ReasonKind::rule_none:
      return "rule " + std::to_string(reason.rule) + " says None" + comma_place(reason.at);
    case ReasonKind::no_rule:
      return "no rule names " + logical;
    case ReasonKind::blocked:
      return "every rule for " + logical + " lost";
    case ReasonKind::explicit_spec:
      return "as written" + comma_place(reason.at);
    case ReasonKind::constraint:
      return "constraint" + comma_place(reason.at);
    default:
      return reason_words(sharded, value, reason);
  }
}

std::string dim_called(const LogicalSpec& names, int dim) {
  const auto& name = names.names[static_cast<std::size_t>(dim)];
  return "dim " + std::to_string(dim) + (name ? " (" + name->text() + ')' : "");
}

std::string loss_text(const RuleDecision& decision, std::size_t dim, const RuleLoss& loss) {
  const LogicalAxis& name = *decision.names.names[dim];
  std::string text = rule_text(loss.rule, name, loss.target) + comma_place(loss.at) + ", lost: ";
  if (loss.cause == RuleLoss::Cause::dim_decided) {
    return text + "rule " + std::to_string(loss.winner) + " decides " + name.text();
  }
  text += dim_called(decision.names, loss.other_dim) + " has " + loss.axis.text();
  if (loss.winner > 0) text += " from rule " + std::to_string(loss.winner);
  return loss.axis_size == 1 ? text + ", an axis of one device" : text;
}

/// Axes that propagation kept away from the dim.
void add_conflicts(const ShardedGraph& sharded, ValueId value, int dim,
                   std::vector<std::string>& lost) {
  for (const Conflict& one : sharded.conflicts) {
    if (one.loser != value || one.dim != dim) continue;
    const std::string from =
        one.from == ValueId::none ? "" : " from " + sharded.graph.value(one.from).name;
    lost.push_back(axes_and_sizes(sharded.mesh, one.axes) + from +
                   (one.label.empty() ? "" : " along " + one.label) + " stayed away: " + one.why);
  }
}

const RuleDecision* decision_of(const ShardedGraph& sharded, ValueId value) {
  for (const std::vector<Reason>& dim : sharded.reasons[index_of(value)]) {
    for (const Reason& reason : dim) {
      if (reason.decision >= 0) {
        return &sharded.decisions[static_cast<std::size_t>(reason.decision)];
      }
    }
  }
  return nullptr;
}

DimAnswer dim_answer(const NamedArray& array, const RuleDecision* decision, std::size_t dim) {
  const ShardedGraph& sharded = array.function->sharded;
  const GraphValue& value = sharded.graph.value(array.value);
  DimAnswer answer;
  answer.size = sharded.given_type(array.value).shape[dim];
  if (dim < value.labels.size()) answer.name = value.labels[dim];
  const std::vector<AxisRef>& axes = array.row.sharding.dims[dim].axes;
  answer.split = axes.empty() ? "whole" : axes_and_sizes(sharded.mesh, axes);
  for (const Reason& reason : sharded.reasons[index_of(array.value)][dim]) {
    std::string text = reason_text(sharded, array.value, reason);
    if (std::find(answer.why.begin(), answer.why.end(), text) == answer.why.end()) {
      answer.why.push_back(std::move(text));
    }
  }
  if (answer.why.empty()) answer.why.emplace_back("nothing asks for a split");
  if (decision != nullptr && dim < decision->dims.size()) {
    const auto& name = decision->names.names[dim];
    if (name) answer.name = name->text();
    for (const RuleLoss& loss : decision->dims[dim].lost) {
      answer.lost.push_back(loss_text(*decision, dim, loss));
    }
  }
  add_conflicts(sharded, array.value, static_cast<int>(dim), answer.lost);
  return answer;
}

const GraphInput* input_of(const NamedArray& array) {
  for (const GraphInput& input : array.function->sharded.graph.inputs) {
    if (input.value == array.value) return &input;
  }
  return nullptr;
}

/// Arguments that the rules decided in the same way; 1 for a value.
std::int64_t uses_of(const ShardedGraph& sharded, const RuleDecision& decision) {
  std::int64_t count = 0;
  for (const GraphInput& input : sharded.graph.inputs) {
    if (decision_of(sharded, input.value) == &decision) count += input.iteration.count();
  }
  return std::max<std::int64_t>(count, 1);
}

bool has_reason(const ShardedGraph& sharded, ValueId value, ReasonKind kind) {
  const ValueReasons& reasons = sharded.reasons[index_of(value)];
  return std::any_of(reasons.begin(), reasons.end(), [&](const std::vector<Reason>& dim) {
    return std::any_of(dim.begin(), dim.end(),
                       [&](const Reason& reason) { return reason.kind == kind; });
  });
}

std::string placed_text(const NamedArray& array, const RuleDecision* decision) {
  const GraphInput* input = input_of(array);
  const ShardedGraph& sharded = array.function->sharded;
  if (decision != nullptr) {
    const Location& at = input != nullptr && input->placement.at.is_known() ? input->placement.at
                                                                            : decision->first_at;
    const std::int64_t uses = uses_of(sharded, *decision);
    return "axes " + to_string(decision->names) + comma_place(at) + ", used " + with_commas(uses) +
           (uses == 1 ? " time" : " times");
  }
  if (input == nullptr && has_reason(sharded, array.value, ReasonKind::constraint)) {
    return "placed by a constraint";
  }
  if (input == nullptr) return "placed by propagation";
  if (input->placement.mesh() != nullptr || input->placement.sharding() != nullptr) {
    return "placed by " + to_string(input->placement) + comma_place(input->placement.at);
  }
  return "no spec" + comma_place(input->placement.at);
}

void add_unused(const std::vector<RuleConfig>& rules, int first, const LogicalSpec& names,
                std::vector<std::string>& unused) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& all = names.names;
    if (std::find(all.begin(), all.end(), rules[i].logical) != all.end()) continue;
    unused.push_back(rule_text(first + static_cast<int>(i), rules[i].logical, rules[i].target));
  }
}

std::vector<std::string> unused_rules(const RulesConfig& rules, const RuleDecision& decision) {
  std::vector<std::string> unused;
  add_unused(rules.rules, 1, decision.names, unused);
  int first = static_cast<int>(rules.rules.size()) + 1;
  for (const PartRulesConfig& part : rules.rules_for) {
    if (part.part == decision.part) add_unused(part.rules, first, decision.names, unused);
    first += static_cast<int>(part.rules.size());
  }
  return unused;
}

/// Names without a rule that the mesh does not know either.
std::string names_taken_for_axes(const Mesh& mesh, const RuleDecision& decision) {
  std::string text;
  for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
    const auto& name = decision.names.names[dim];
    const DimDecision& one = decision.dims[dim];
    if (!name || one.rule > 0 || !one.lost.empty() || mesh.find(MeshAxis(name->text()))) continue;
    text += (text.empty() ? "" : ", ") + name->text();
  }
  return text;
}

std::string other_resolver(const Plan& plan, const RuleDecision& decision) {
  const ResolverAnswers answers = resolver_answers(plan.mesh, decision);
  if (plan.rules.resolver == RuleResolver::nnx) {
    return answers.agree ? "linen resolver: the same" : "linen resolver: differs, " + answers.linen;
  }
  if (answers.agree) return "nnx resolver: the same";
  const std::string refused =
      answers.refusal.empty() ? "" : ", which is refused (" + answers.refusal + ')';
  if (!answers.refuses_names_only) return "nnx resolver: differs, " + answers.nnx + refused;
  const std::string names = names_taken_for_axes(plan.mesh, decision);
  const bool is_one = names.find(',') == std::string::npos;
  return "nnx resolver: differs, " + names + (is_one ? " has" : " have") +
         " no rule and would be taken for " + (is_one ? "a mesh axis" : "mesh axes") + " (" +
         answers.refusal + ')';
}

std::vector<std::string> free_axes_of(const Mesh& mesh, const Sharding& sharding) {
  const std::set<int> used = axes_of(sharding);
  std::vector<std::string> free;
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.size(axis) > 1 && !used.contains(axis)) {
      free.push_back(axes_and_sizes(mesh, {mesh.full(axis)}));
    }
  }
  return free;
}

ArrayAnswer answer_about(const Plan& plan, const NamedArray& array) {
  const ShardedGraph& sharded = array.function->sharded;
  const RuleDecision* decision = decision_of(sharded, array.value);
  ArrayAnswer answer;
  answer.row = array.row;
  answer.placed = placed_text(array, decision);
  for (std::size_t dim = 0; dim < array.row.type.shape.size(); ++dim) {
    answer.dims.push_back(dim_answer(array, decision, dim));
  }
  answer.free_axes = free_axes_of(plan.mesh, array.row.sharding);
  if (decision == nullptr) return answer;
  answer.unused_rules = unused_rules(plan.rules, *decision);
  answer.other_resolver = other_resolver(plan, *decision);
  return answer;
}

}  // namespace

std::string comma_place(const Location& at) { return at.is_known() ? ", " + to_string(at) : ""; }

std::vector<NamedArray> arrays_with_values(const Plan& plan) {
  std::vector<NamedArray> all;
  std::set<std::string> known;
  add_rows(plan.main(), state_rows(plan), known, all);
  if (plan.model.has_program) {
    add_rows(plan.main(), value_rows(plan.main()), known, all);
    add_outputs(plan.main(), known, all);
    add_outputs(plan.apply, known, all);
  }
  return all;
}

void ArrayAnswers::add(const NamedArray& array, const std::vector<std::string>& names) {
  ArrayAnswer answer = answer_about(plan_, array);
  const auto alike = std::find_if(answers_.begin(), answers_.end(), [&](const ArrayAnswer& one) {
    return one.row.type == answer.row.type && one.row.spec == answer.row.spec &&
           one.placed == answer.placed && one.dims == answer.dims &&
           one.row.is_result == answer.row.is_result;
  });
  if (alike != answers_.end()) {
    alike->names.insert(alike->names.end(), names.begin(), names.end());
    return;
  }
  answer.names = names;
  answers_.push_back(std::move(answer));
  firsts_.push_back(array);
}

std::vector<ArrayAnswer> ArrayAnswers::take(bool trials) {
  for (std::size_t i = 0; trials && i < answers_.size(); ++i) {
    const NamedArray& first = firsts_[i];
    const GraphInput* input = input_of(first);
    const RuleDecision* decision = decision_of(first.function->sharded, first.value);
    if (input == nullptr || decision == nullptr) continue;
    answers_[i].trials = rule_trials(
        plan_.model, plan_.rules, plan_.mesh,
        {input->placement, first.row.type, decision->part, first.row.name, first.row.sharding},
        *decision);
  }
  return std::move(answers_);
}

}  // namespace shard
