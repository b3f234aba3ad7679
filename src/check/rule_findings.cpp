#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "check/finders.h"

namespace shard {
namespace {

/// All rules of the file with what became of each: the general ones, then those of each part.
struct UsedRule {
  const RuleConfig& rule;
  const RuleUse& use;
  int number;  ///< from 1
};

std::vector<UsedRule> used_rules(const PlanFacts& facts) {
  std::vector<UsedRule> all;
  const auto add = [&](const std::vector<RuleConfig>& rules) {
    for (const RuleConfig& rule : rules) {
      const std::size_t position = all.size();
      all.push_back({rule, facts.sharded.rule_uses[position], static_cast<int>(position) + 1});
    }
  };
  add(facts.rules.rules);
  for (const PartRulesConfig& part : facts.rules.rules_for) add(part.rules);
  return all;
}

std::string rule_text(const UsedRule& used) {
  const std::vector<MeshAxis>& axes = used.rule.target.axes;
  std::string target = axes.empty() ? "None" : "";
  for (const MeshAxis& axis : axes) target += (target.empty() ? "" : ", ") + axis.text();
  if (axes.size() > 1) target = '[' + target + ']';
  return "rule " + std::to_string(used.number) + " [" + used.rule.logical.text() + ", " + target +
         ']';
}

/// A model that places everything by mesh axes asks no rule; then none of them is to blame.
bool asks_rules(const PlanFacts& facts) {
  const auto& uses = facts.sharded.rule_uses;
  return !facts.sharded.unmatched.empty() ||
         std::any_of(uses.begin(), uses.end(), [](const RuleUse& use) { return use.named > 0; });
}

std::vector<std::string> never_used_names(const PlanFacts& facts) {
  std::vector<std::string> names;
  for (const UsedRule& used : used_rules(facts)) {
    if (used.use.named == 0) names.push_back(used.rule.logical.text());
  }
  return names;
}

std::vector<std::string> unmatched_names(const PlanFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, at] : facts.sharded.unmatched) names.push_back(name.text());
  return names;
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

std::vector<Finding> find_rules_shadowed(const PlanFacts& facts, const FindingKind& kind) {
  std::vector<Finding> found;
  for (const UsedRule& used : used_rules(facts)) {
    if (used.use.named == 0 || used.use.fired > 0) continue;
    found.push_back({kind.severity, std::string(kind.id), used.rule.at,
                     rule_text(used) + " never decides: " + with_commas(used.use.named) +
                         " dims have that name, but earlier rules or taken mesh axes always win",
                     "", Bytes(0)});
  }
  return found;
}

std::vector<Finding> find_unmatched_names(const PlanFacts& facts, const FindingKind& kind) {
  const std::vector<std::string> never_used = never_used_names(facts);
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
    if (others.empty()) first_other = at;
    others += (others.empty() ? "" : ", ") + name.text();
  }
  if (others.empty()) return found;
  found.push_back({kind.severity, std::string(kind.id), first_other,
                   "no rule names " + others + ": these dims stay whole", "", Bytes(0)});
  return found;
}

}  // namespace shard
