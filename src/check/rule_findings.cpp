// Rules that name nothing, and names that no rule has.
#include <algorithm>
#include <string>
#include <vector>

#include "base/glob.h"
#include "base/nearest.h"
#include "check/finders.h"
#include "check/used_rules.h"

namespace shard {
namespace {

std::vector<std::string> never_used_names(const PlanFacts& facts) {
  std::vector<std::string> names;
  for (const UsedRule& used : used_rules(facts)) {
    if (used.use.named == 0) names.push_back(used.rule.logical.text());
  }
  return names;
}

std::vector<std::string> used_names(const PlanFacts& facts) {
  std::vector<std::string> names;
  for (const UsedRule& used : used_rules(facts)) {
    if (used.use.named > 0) names.push_back(used.rule.logical.text());
  }
  return names;
}

std::vector<std::string> unmatched_names(const PlanFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, at] : facts.sharded.unmatched) names.push_back(name.text());
  return names;
}

bool matches_an_input(const std::string& glob, const Graph& graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const GraphInput& input) { return matches_glob(glob, input.path); });
}

std::string nearest_path(const std::string& glob, const Graph& graph) {
  std::vector<std::string> paths;
  for (const GraphInput& input : graph.inputs) paths.push_back(input.path);
  const auto near = nearest(glob, paths);
  return near ? "did you mean '" + *near + "'?" : "";
}

}  // namespace

std::vector<Finding> find_rules_never_used(const PlanFacts& facts, const FindingKind& kind) {
  if (!asks_rules(facts)) return {};
  const std::vector<std::string> unmatched = unmatched_names(facts);
  std::vector<Finding> found;
  for (const UsedRule& used : used_rules(facts)) {
    // A near miss is told once, as `unmatched-name`.
    if (used.use.named > 0 || nearest(used.rule.logical.text(), unmatched)) continue;
    found.push_back(
        {kind.severity, std::string(kind.id), used.rule.at,
         rule_text(used) + " is never used: no array has a dim called " + used.rule.logical.text(),
         "", Bytes(0)});
  }
  return found;
}

std::vector<Finding> find_unmatched_names(const PlanFacts& facts, const FindingKind& kind) {
  const std::vector<std::string> never_used = never_used_names(facts);
  const std::vector<std::string> used = used_names(facts);
  std::vector<Finding> found;
  std::string others;
  Location first_other;
  for (const auto& [name, at] : facts.sharded.unmatched) {
    if (const auto near = nearest(name.text(), never_used)) {
      found.push_back({Severity::warning, std::string(kind.id), at,
                       "no rule names " + name.text() + ", and no array has a dim called " + *near,
                       "is the rule for '" + *near + "' meant for '" + name.text() + "'?",
                       Bytes(0)});
      continue;
    }
    const auto near = nearest(name.text(), used);
    if (near && *near != name.text()) {  // the same name: of rules for another part
      found.push_back({kind.severity, std::string(kind.id), at,
                       "no rule names " + name.text() + ": its dims stay whole",
                       "did you mean '" + *near + "'?", Bytes(0)});
      continue;
    }
    if (others.empty()) first_other = at;
    others += (others.empty() ? "" : ", ") + name.text();
  }
  if (others.empty()) return found;
  found.push_back({kind.severity, std::string(kind.id), first_other,
                   "no rule names " + others + ": these dims stay whole", "", Bytes(0)});
  return found;
}

std::vector<Finding> find_paths_that_match_nothing(const PlanFacts& facts,
                                                   const FindingKind& kind) {
  std::vector<Finding> found;
  for (std::size_t i = 0; i < facts.rules.paths.size(); ++i) {
    const PathRuleConfig& path = facts.rules.paths[i];
    if (i < facts.sharded.path_arrays.size() && facts.sharded.path_arrays[i] > 0) continue;
    const bool is_shadowed = matches_an_input(path.glob, facts.sharded.graph);
    found.push_back({kind.severity, std::string(kind.id), path.at,
                     is_shadowed ? "the glob '" + path.glob +
                                       "' places no array: an earlier one always matches first"
                                 : "no array has a path like '" + path.glob + "'",
                     is_shadowed ? "put it before that one, or drop it"
                                 : nearest_path(path.glob, facts.sharded.graph),
                     Bytes(0)});
  }
  return found;
}

}  // namespace shard
