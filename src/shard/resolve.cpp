#include "shard/resolve.h"

#include <algorithm>

#include "shard/axes.h"
#include "shard/legal_sizes.h"
#include "shard/misfit.h"
#include "shard/misfit_hint.h"
#include "shard/nnx.h"
#include "shard/written_sharding.h"

namespace shard {
namespace {

std::string dim_name(std::size_t dim, const SpecQuestion& question) {
  std::string label;
  if (dim < question.labels.size()) label = question.labels[dim];
  if (const LogicalSpec* names = question.spec.logical()) {
    if (dim < names->names.size() && names->names[dim]) label = names->names[dim]->text();
  }
  return "dim " + std::to_string(dim) + (label.empty() ? "" : " (" + label + ")");
}

Resolved unplaced(const SpecQuestion& question) {
  Resolved resolved;
  resolved.sharding = replicated_sharding(question.type.rank());
  resolved.reasons.resize(question.type.shape.size());
  return resolved;
}

/// One word per dim, equal for equal lists only.
std::vector<std::string> key_of(const LogicalSpec& names) {
  std::vector<std::string> key;
  for (std::size_t dim = 0; dim < names.names.size(); ++dim) {
    if (names.names[dim]) {
      key.push_back('=' + names.names[dim]->text());
      continue;
    }
    const PartitionEntry entry = names.written(dim);
    std::string word = entry.is_unconstrained ? "?" : "-";
    for (const MeshAxis& axis : entry.axes) word += axis.text() + '\0';
    key.push_back(std::move(word));
  }
  return key;
}

/// `, by rule 2 at rules.yaml:3:5`; empty where no rule decided the dim.
std::string asked_by(const std::vector<Reason>& reasons) {
  for (const Reason& reason : reasons) {
    if (reason.kind != ReasonKind::rule) continue;
    return ", by rule " + std::to_string(reason.rule) + " at " + to_string(reason.at);
  }
  return "";
}

/// A constraint that does not divide is allowed: JAX pads. Here the dim keeps what divides it.
void keep_dividing(Axes& axes, std::int64_t size, std::vector<Reason>& reasons) {
  Axes even = dividing_prefix(axes, size);
  reasons.push_back(reason_for(ReasonKind::uneven, {}, beyond(even, axes)));
  axes = std::move(even);
}

}  // namespace

Resolver::Resolver(const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics)
    : rules_(rules), mesh_(mesh), diagnostics_(diagnostics), paths_(rules.paths) {
  for (const RuleConfig& rule : rules.rules) uses_.push_back({0, 0, rule.at});
  for (const PartRulesConfig& part : rules.rules_for) {
    for (const RuleConfig& rule : part.rules) uses_.push_back({0, 0, rule.at});
  }
}

Resolved Resolver::resolve(const SpecQuestion& question) {
  if (question.part == Part::activations) return resolve_spec(question);
  const PathRuleConfig* path = paths_.take(question.what, question.followed, question.count);
  if (path == nullptr) return resolve_spec(question);
  return resolve_spec({path->spec, question.type, question.part, question.what, question.labels,
                       question.count, question.followed});
}

Resolved Resolver::resolve_spec(const SpecQuestion& question) {
  Resolved resolved;
  if (const LogicalSpec* names = question.spec.logical()) {
    resolved = resolve_logical(*names, question);
  } else if (const PartitionSpec* spec = question.spec.mesh()) {
    resolved = resolve_mesh(*spec, question);
  } else if (const ShardingText* text = question.spec.sharding()) {
    return resolve_text(*text, question);
  } else {
    resolved = unplaced(question);
    for (auto& reasons : resolved.reasons) {
      reasons.push_back(reason_for(ReasonKind::unannotated, question.spec.at));
    }
  }
  if (resolved.is_constraint) place(resolved, question);
  return resolved;
}

const Resolver::PartRules& Resolver::rules_of(Part part) {
  const auto [found, is_new] = parts_.try_emplace(part);
  PartRules& asked = found->second;
  if (!is_new) return asked;
  int number = static_cast<int>(rules_.rules.size());
  for (const PartRulesConfig& own : rules_.rules_for) {
    for (const RuleConfig& rule : own.rules) {
      if (own.part == part) {
        asked.rules.push_back(rule);
        asked.numbers.push_back(number);
      }
      ++number;
    }
  }
  asked.own = asked.rules.size();
  for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
    asked.rules.push_back(rules_.rules[i]);
    asked.numbers.push_back(static_cast<int>(i));
  }
  return asked;
}

Resolved Resolver::resolve_logical(const LogicalSpec& names, const SpecQuestion& question) {
  Resolved resolved = unplaced(question);
  const PartRules& asked = rules_of(question.part);
  if (asked.rules.empty() && question.part == Part::activations) {
    resolved.is_constraint = false;
    for (auto& reasons : resolved.reasons) {
      reasons.push_back(reason_for(ReasonKind::unannotated, question.spec.at));
    }
    return resolved;
  }
  if (!check_flat(names, question) || !check_names(names, question)) return resolved;
  const Decided& decided = decide(names, asked, question);
  const LinenAnswer& answer = decided.answer;
  resolved.is_constraint = check_matched(names, answer.rule_of, question);
  resolved.spec.entries = answer.entries;
  for (std::size_t dim = 0; dim < resolved.reasons.size(); ++dim) {
    Reason reason = dim < names.names.size() ? reason_of(names, answer, asked, dim) : Reason{};
    if (dim >= names.names.size()) reason.kind = ReasonKind::explicit_spec;
    if (!reason.at.is_known()) reason.at = question.spec.at;
    reason.decision = decided.decision;
    resolved.reasons[dim].push_back(std::move(reason));
  }
  return resolved;
}

const Resolver::Decided& Resolver::decide(const LogicalSpec& names, const PartRules& asked,
                                          const SpecQuestion& question) {
  const auto [place, is_new] = decided_.try_emplace({question.part, key_of(names)});
  Decided& decided = place->second;
  if (is_new) {
    if (rules_.resolver == RuleResolver::nnx) {
      NnxAnswer nnx = nnx_answer(names, asked);
      decided.answer.blocked.resize(names.names.size());
      decided.answer.entries = std::move(nnx.entries);
      decided.answer.rule_of = std::move(nnx.rule_of);
    } else {
      decided.answer = logical_to_mesh_axes(names, asked.rules);
    }
    decided.decision = static_cast<int>(decisions_.size());
    decisions_.push_back(decision_of(names, decided.answer, asked, question));
  }
  count_arrays(names, decisions_[static_cast<std::size_t>(decided.decision)], question);
  return decided;
}

/// The last rule of a name wins there, so the rules of the part are put behind the general ones.
NnxAnswer Resolver::nnx_answer(const LogicalSpec& names, const PartRules& asked) {
  if (asked.own == 0) return nnx_mesh_axes(names, asked.rules);
  std::vector<RuleConfig> rules = asked.rules;
  const auto own = static_cast<std::ptrdiff_t>(asked.own);
  std::rotate(rules.begin(), rules.begin() + own, rules.end());
  NnxAnswer answer = nnx_mesh_axes(names, rules);
  const int size = static_cast<int>(rules.size());
  for (int& rule : answer.rule_of) {
    if (rule >= 0) rule = (rule + static_cast<int>(own)) % size;
  }
  return answer;
}

RuleDecision Resolver::decision_of(const LogicalSpec& names, const LinenAnswer& answer,
                                   const PartRules& asked, const SpecQuestion& question) const {
  RuleDecision decision;
  decision.part = question.part;
  decision.names = names;
  decision.dims = dim_decisions(names, {answer.entries, answer.rule_of, answer.blocked},
                                asked.rules, asked.numbers, mesh_);
  decision.linen.entries = rules_.resolver == RuleResolver::linen
                               ? answer.entries
                               : logical_to_mesh_axes(names, asked.rules).entries;
  decision.nnx.entries = nnx_answer(names, asked).entries;
  decision.first = question.what;
  decision.first_at = question.spec.at;
  return decision;
}

void Resolver::count_arrays(const LogicalSpec& names, RuleDecision& decision,
                            const SpecQuestion& question) {
  decision.arrays += question.count;
  const auto use_of = [&](int rule) -> RuleUse& {
    return uses_[static_cast<std::size_t>(rule - 1)];
  };
  for (std::size_t dim = 0; dim < decision.dims.size(); ++dim) {
    const DimDecision& one = decision.dims[dim];
    if (one.rule > 0) use_of(one.rule).fired += question.count;
    if (one.rule > 0) use_of(one.rule).named += question.count;
    for (const RuleLoss& lost : one.lost) use_of(lost.rule).named += question.count;
    const bool is_unknown = names.names[dim] && one.rule == 0 && one.lost.empty();
    const bool is_noted = std::any_of(unmatched_.begin(), unmatched_.end(), [&](const auto& noted) {
      return noted.first == names.names[dim];
    });
    if (is_unknown && !is_noted) unmatched_.emplace_back(*names.names[dim], question.spec.at);
  }
}

Reason Resolver::reason_of(const LogicalSpec& names, const LinenAnswer& answer,
                           const PartRules& asked, std::size_t dim) {
  if (!names.names[dim]) return reason_for(ReasonKind::explicit_spec);
  Reason reason = reason_for(ReasonKind::no_rule);
  reason.logical = *names.names[dim];
  if (rules_.resolver == RuleResolver::nnx && answer.rule_of[dim] < 0) {
    reason.kind = ReasonKind::taken_as_axis;
    return reason;
  }
  std::size_t rule = 0;
  if (answer.rule_of[dim] >= 0) {
    rule = static_cast<std::size_t>(answer.rule_of[dim]);
    const PartitionEntry& target = asked.rules[rule].target;
    const bool is_none = target.axes.empty() && !target.is_unconstrained;
    reason.kind = is_none ? ReasonKind::rule_none : ReasonKind::rule;
  } else if (!answer.blocked[dim].empty()) {
    rule = static_cast<std::size_t>(answer.blocked[dim].front().rule);
    reason.kind = ReasonKind::blocked;
    reason.other_dim = answer.blocked[dim].front().other_dim;
  } else {
    return reason;
  }
  reason.rule = asked.numbers[rule] + 1;
  reason.at = asked.rules[rule].at;
  return reason;
}

Resolved Resolver::resolve_mesh(const PartitionSpec& spec, const SpecQuestion& question) {
  Resolved resolved = unplaced(question);
  resolved.spec = spec;
  for (auto& reasons : resolved.reasons) {
    reasons.push_back(reason_for(ReasonKind::explicit_spec, question.spec.at));
  }
  return resolved;
}

/// What has a PartitionSpec is placed as that; parts of axes are taken as they are.
Resolved Resolver::resolve_text(const ShardingText& text, const SpecQuestion& question) {
  Sharding sharding;
  try {
    sharding = sharding_of(mesh_, text, question.type.rank(), question.spec.at);
  } catch (const Error& problem) {
    for (const Diagnostic& one : problem.diagnostics()) {
      report({one.id, one.at, question.what, to_string(text)}, question.what + ": " + one.message,
             one.hint);
    }
    return unplaced(question);
  }
  Resolved resolved = resolve_mesh(written_spec(mesh_, sharding), question);
  if (!has_parts(mesh_, sharding)) {
    place(resolved, question);
    return resolved;
  }
  check_axis_types(resolved, question);
  resolved.sharding = std::move(sharding);
  fit(resolved, question);
  return resolved;
}

void Resolver::place(Resolved& resolved, const SpecQuestion& question) {
  check_unconstrained(resolved, question);
  check_repeated(resolved, question);
  check_known(resolved, question);
  check_axis_types(resolved, question);
  if (!check_rank(resolved.spec.entries.size(), question)) return;
  std::set<int> used;
  for (std::size_t dim = 0; dim < resolved.spec.entries.size(); ++dim) {
    const PartitionEntry& entry = resolved.spec.entries[dim];
    DimSharding& placed = resolved.sharding.dims[dim];
    for (const MeshAxis& name : entry.axes) {
      const std::optional<int> axis = mesh_.find(name);
      if (axis && used.insert(*axis).second) placed.axes.push_back(mesh_.full(*axis));
    }
    placed.is_open = entry.is_unconstrained;
    if (placed.is_open) resolved.reasons[dim].front().kind = ReasonKind::unconstrained;
  }
  fit(resolved, question);
}

void Resolver::fit(Resolved& resolved, const SpecQuestion& question) {
  drop_indivisible(resolved, question);
  for (std::size_t dim = 0; dim < resolved.sharding.dims.size(); ++dim) {
    Axes& axes = resolved.sharding.dims[dim].axes;
    std::erase_if(axes, [](const AxisRef& axis) { return axis.size == 1; });
    if (!resolved.reasons[dim].empty()) resolved.reasons[dim].front().axes = axes;
  }
}

void Resolver::drop_indivisible(Resolved& resolved, const SpecQuestion& question) {
  for (std::size_t dim = 0; dim < resolved.sharding.dims.size(); ++dim) {
    Axes& axes = resolved.sharding.dims[dim].axes;
    const std::int64_t size = question.type.shape[dim];
    const std::int64_t parts = product(axes);
    if (size == unknown_size || size % parts == 0) continue;
    if (settle_misfit(resolved, dim, question)) continue;
    if (question.part == Part::activations) {
      keep_dividing(axes, size, resolved.reasons[dim]);
      continue;
    }
    if (!check_every_dim_is_named(resolved, question)) return;
    report({"indivisible", question.spec.at, question.what,
            std::to_string(dim) + ":" + std::to_string(size)},
           dim_name(dim, question) + " of " + question.what + " has size " + std::to_string(size) +
               ", and " + to_string(resolved.spec) + " splits it " + std::to_string(parts) +
               " ways (" + factors_text(mesh_, axes) + ')' + asked_by(resolved.reasons[dim]) +
               ", which should evenly divide the shape " + to_string(question.type.shape),
           hint_for_misfit(resolved, dim, question));
    axes.clear();
  }
}

/// True when the rules say what to do about it.
bool Resolver::settle_misfit(Resolved& resolved, std::size_t dim, const SpecQuestion& question) {
  Axes& axes = resolved.sharding.dims[dim].axes;
  std::vector<Reason>& reasons = resolved.reasons[dim];
  if (rules_.misfit == Misfit::pad) {
    reasons.push_back(reason_for(ReasonKind::padded, {}, axes));
    return true;
  }
  if (rules_.misfit != Misfit::drop_axes) return false;
  FittedAxes fitted = fitted_axes(axes, question.type.shape[dim]);
  reasons.push_back(reason_for(ReasonKind::dropped, {}, std::move(fitted.dropped)));
  axes = std::move(fitted.kept);
  return true;
}

std::string Resolver::hint_for_misfit(const Resolved& resolved, std::size_t dim,
                                      const SpecQuestion& question) const {
  std::vector<std::string> names;
  for (std::size_t other = 0; other < question.type.shape.size(); ++other) {
    names.push_back(dim_name(other, question));
  }
  return misfit_hint(mesh_, question.type, resolved.sharding, dim, resolved.sharding.dims[dim].axes,
                     names);
}

void Resolver::report(const Mistake& mistake, std::string message, std::string hint) {
  // The same rule or spec is often met by many arrays: one message for all of them. Where no place
  // is known the array is what tells mistakes apart.
  const std::string key = mistake.id + '|' + to_string(mistake.at) + '|' + mistake.detail + '|' +
                          (mistake.at.is_known() ? "" : mistake.what);
  if (!reported_.insert(key).second) return;
  diagnostics_.error(mistake.id, mistake.at, std::move(message), std::move(hint));
}

}  // namespace shard
