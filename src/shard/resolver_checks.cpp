// What the Resolver refuses: names and axes that cannot stand in a spec.

#include <algorithm>

#include "base/nearest.h"
#include "shard/named_sharding.h"
#include "shard/resolve.h"

namespace shard {
namespace {

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

std::string quoted_names(const std::vector<LogicalAxis>& names) {
  std::string text;
  for (const LogicalAxis& name : names) text += (text.empty() ? "'" : ", '") + name.text() + "'";
  return text;
}

}  // namespace

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
    if (question.keeps_dims && one.id == "unconstrained-without-auto") continue;
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

}  // namespace shard
