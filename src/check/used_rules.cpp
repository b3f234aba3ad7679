#include "check/used_rules.h"

#include <algorithm>

namespace shard {

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

std::string target_text(const PartitionEntry& target) {
  if (target.is_unconstrained) return "UNCONSTRAINED";
  if (target.axes.empty()) return "None";
  std::string text;
  for (const MeshAxis& axis : target.axes) text += (text.empty() ? "" : ", ") + axis.text();
  return target.axes.size() > 1 ? '[' + text + ']' : text;
}

std::string rule_text(int number, const LogicalAxis& logical, const PartitionEntry& target) {
  return "rule " + std::to_string(number) + " [" + logical.text() + ", " + target_text(target) +
         ']';
}

std::string rule_text(const UsedRule& used) {
  return rule_text(used.number, used.rule.logical, used.rule.target);
}

bool asks_rules(const PlanFacts& facts) {
  const auto& uses = facts.sharded.rule_uses;
  return !facts.sharded.unmatched.empty() ||
         std::any_of(uses.begin(), uses.end(), [](const RuleUse& use) { return use.named > 0; });
}

}  // namespace shard
