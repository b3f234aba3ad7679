#include "shard/resolve.h"

#include <algorithm>

#include "base/nearest.h"
#include "shard/axes.h"
#include "shard/legal_sizes.h"
#include "shard/misfit.h"
#include "shard/misfit_hint.h"
#include "shard/named_sharding.h"
#include "shard/nnx.h"

namespace shard {
namespace {

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxisInfo& axis : mesh.axes()) names.push_back(axis.name.text());
  return names;
}

std::string dim_name(std::size_t dim, const SpecQuestion& question) {
  std::string label;
  if (dim < question.labels.size()) label = question.labels[dim];
  if (const LogicalSpec* names = question.spec.logical()) {
    if (dim < names->names.size() && names->names[dim]) label = names->names[dim]->text();
  }
  return "dim " + std::to_string(dim) + (label.empty() ? "" : " (" + label + ")");
}

/// The place that decided the dim: the rule, or the spec itself.
const Location& place_of(const Resolved& resolved, std::size_t dim, const SpecQuestion& question) {
  if (dim >= resolved.reasons.size()) return question.spec.at;  // beyond the rank
  for (const Reason& reason : resolved.reasons[dim]) {
    if (reason.kind == ReasonKind::rule) return reason.at;
  }
  return question.spec.at;
}

bool is_taken_as_axis(const Resolved& resolved, std::size_t dim) {
  if (dim >= resolved.reasons.size()) return false;
  const std::vector<Reason>& reasons = resolved.reasons[dim];
  return std::any_of(reasons.begin(), reasons.end(),
                     [](const Reason& reason) { return reason.kind == ReasonKind::taken_as_axis; });
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

std::string quoted_names(const std::vector<LogicalAxis>& names) {
  std::string text;
  for (const LogicalAxis& name : names) text += (text.empty() ? "'" : ", '") + name.text() + "'";
  return text;
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
                       question.count, question.followed, question.may_pad});
}

Resolved Resolver::resolve_spec(const SpecQuestion& question) {
  Resolved resolved;
  if (const LogicalSpec* names = question.spec.logical()) {
    resolved = resolve_logical(*names, question);
  } else if (const PartitionSpec* spec = question.spec.mesh()) {
    resolved = resolve_mesh(*spec, question);
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

bool Resolver::check_names(const LogicalSpec& names, const SpecQuestion& question) {
  const std::vector<LogicalAxis> repeated = repeated_names(names);
  if (repeated.empty() || rules_.resolver == RuleResolver::nnx) return true;
  // Told for every array: one glob may give the names to many.
  const std::string detail = to_string(names) + " of " + question.what;
  report({"duplicate-logical-name", question.spec.at, question.what, detail},
         "dims " + quoted_names(repeated) + " occur more than once in array names " +
             to_string(names) + " of " + question.what,
         "give each dim a name of its own, or None");
  return false;
}

bool Resolver::check_matched(const LogicalSpec& names, const std::vector<int>& rule_of,
                             const SpecQuestion& question) {
  if (rules_.unmatched == Unmatched::unsharded || rules_.resolver == RuleResolver::nnx) return true;
  bool is_matched = true;
  for (std::size_t dim = 0; dim < names.names.size(); ++dim) {
    if (!names.names[dim] || rule_of[dim] >= 0) continue;
    is_matched = false;
    if (rules_.unmatched != Unmatched::error) continue;
    std::vector<std::string> known;
    for (const RuleConfig& rule : rules_.rules) known.push_back(rule.logical.text());
    const std::string name = names.names[dim]->text();
    report({"unmatched-name", question.spec.at, question.what, name},
           "'" + name + "' of " + to_string(names) + ", the names of " + question.what +
               ", did not match a rule",
           did_you_mean(name, known, "the rules name"));
  }
  return is_matched || rules_.unmatched == Unmatched::error || question.part != Part::activations;
}

bool Resolver::check_rank(std::size_t entries, const SpecQuestion& question) {
  if (entries <= question.type.shape.size()) return true;
  const std::string spec = to_string(question.spec);
  report({"rank-mismatch", question.spec.at, question.what, spec},
         spec + " is only valid for values of rank at least " + std::to_string(entries) + ", but " +
             question.what + " is " + to_string(question.type) + " of rank " +
             std::to_string(question.type.rank()),
         question.type.rank() == 0 ? "For scalars the PartitionSpec should be P()" : "");
  return false;
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
  drop_indivisible(resolved, question);
  for (std::size_t dim = 0; dim < resolved.sharding.dims.size(); ++dim) {
    Axes& axes = resolved.sharding.dims[dim].axes;
    std::erase_if(axes, [](const AxisRef& axis) { return axis.size == 1; });
    if (!resolved.reasons[dim].empty()) resolved.reasons[dim].front().axes = axes;
  }
}

/// Flax takes names with a tuple among them for a tree of names where it constrains a value.
bool Resolver::check_flat(const LogicalSpec& names, const SpecQuestion& question) {
  if (question.part != Part::activations) return true;
  const auto has_axes = [](const PartitionEntry& entry) { return !entry.axes.empty(); };
  if (std::none_of(names.verbatim.begin(), names.verbatim.end(), has_axes)) return true;
  report({"nested-names", question.spec.at, question.what, to_string(names)},
         "the names " + to_string(names) + " of " + question.what +
             " have a list of mesh axes among them, which Flax takes for a tree of names in a "
             "constraint",
         "place all dims by mesh axes: P(...)");
  return false;
}

void Resolver::check_axis_types(const Resolved& resolved, const SpecQuestion& question) {
  for (const SpecMistake& one : axis_type_mistakes(mesh_, resolved.spec, question.what)) {
    report({one.id, question.spec.at, question.what, one.detail}, one.message, one.hint);
  }
  // Sums that are still to be completed arise within a program and end there.
  if (!resolved.spec.unreduced.empty()) {
    report({"not-yet", question.spec.at, question.what, to_string(resolved.spec)},
           to_string(resolved.spec) + " of " + question.what +
               " leaves a sum unreduced, which is not supported yet",
           "leave it out: partial sums are completed where they arise");
  }
  const auto is_split = [](const PartitionEntry& entry) { return !entry.axes.empty(); };
  const auto& entries = resolved.spec.entries;
  if (question.part == Part::activations && mesh_.is_explicit() &&
      std::any_of(entries.begin(), entries.end(), is_split)) {
    report({"explicit-constraint", question.spec.at, question.what, to_string(resolved.spec)},
           "a constraint can only refer to Auto axes, and every axis of the mesh " +
               to_string(mesh_) + " is Explicit: " + to_string(resolved.spec) + " of " +
               question.what,
           "on Explicit axes a value is split by the types of the program");
  }
}

void Resolver::check_known(const Resolved& resolved, const SpecQuestion& question) {
  for (std::size_t dim = 0; dim < resolved.spec.entries.size(); ++dim) {
    for (const MeshAxis& name : resolved.spec.entries[dim].axes) {
      if (mesh_.find(name)) continue;
      const Location& at = place_of(resolved, dim, question);
      report({"unknown-mesh-axis", at, question.what, name.text()},
             "mesh axis '" + name.text() + "' of " + to_string(resolved.spec) + " for " +
                 question.what + " is not found in mesh " + to_string(mesh_),
             is_taken_as_axis(resolved, dim)
                 ? "no rule names it, so NNX takes it for a mesh axis: add a rule [" + name.text() +
                       ", null]"
                 : did_you_mean(name.text(), axis_names(mesh_), "the mesh has"));
    }
  }
}

/// Names are compared, not axes of the mesh, so that a name is told to be there twice even when the
/// mesh does not have it.
void Resolver::check_repeated(const Resolved& resolved, const SpecQuestion& question) {
  std::set<MeshAxis> used;
  for (std::size_t dim = 0; dim < resolved.spec.entries.size(); ++dim) {
    for (const MeshAxis& axis : resolved.spec.entries[dim].axes) {
      if (used.insert(axis).second) continue;
      const Location& at = place_of(resolved, dim, question);
      report({"duplicate-mesh-axis", at, question.what, axis.text()},
             to_string(resolved.spec) + " of " + question.what + " has duplicate entries for `" +
                 axis.text() + "`",
             "a mesh axis can split at most one dim of an array");
    }
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
           rules_.misfit == Misfit::pad
               ? "misfit: pad is for lists of arrays, a program computes with whole pieces; "
                 "nearest legal sizes: " +
                     nearest_sizes(size, parts)
               : hint_for_misfit(resolved, dim, question));
    axes.clear();
  }
}

/// True when the rules say what to do about it.
bool Resolver::settle_misfit(Resolved& resolved, std::size_t dim, const SpecQuestion& question) {
  Axes& axes = resolved.sharding.dims[dim].axes;
  std::vector<Reason>& reasons = resolved.reasons[dim];
  if (rules_.misfit == Misfit::pad && question.may_pad) {
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

/// Fewer names than dims and a misfit: the names have slipped, most likely because layers were
/// stacked in front of them. Then that is what is wrong, and no size.
bool Resolver::check_every_dim_is_named(Resolved& resolved, const SpecQuestion& question) {
  const LogicalSpec* names = question.spec.logical();
  const std::size_t rank = question.type.shape.size();
  if (names == nullptr || names->names.empty() || names->names.size() >= rank) return true;
  const std::string text = to_string(*names);
  report({"rank-mismatch", question.spec.at, question.what, text},
         text + " has " + std::to_string(names->names.size()) + " names, and " + question.what +
             " is " + to_string(question.type) + " of rank " + std::to_string(rank) +
             ": likely a layer axis is missing at dim 0, so that " + to_string(resolved.spec) +
             " goes to the wrong dims",
         "[layers, " + text.substr(1));
  resolved.sharding = replicated_sharding(question.type.rank());
  return false;
}

void Resolver::check_unconstrained(const Resolved& resolved, const SpecQuestion& question) {
  if (question.part == Part::activations) return;
  const auto& entries = resolved.spec.entries;
  const bool has_unconstrained =
      std::any_of(entries.begin(), entries.end(),
                  [](const PartitionEntry& entry) { return entry.is_unconstrained; });
  if (!has_unconstrained) return;
  const bool is_result = question.part == Part::outputs || question.part == Part::gradients;
  report({"unconstrained-argument", question.spec.at, question.what, to_string(resolved.spec)},
         "Unconstrained dims are not allowed when passed to " +
             std::string(is_result ? "out_shardings" : "in_shardings") + ": " +
             to_string(resolved.spec) + " of " + question.what,
         "write None for a dim that is not split");
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
