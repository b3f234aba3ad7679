#include "shard/nnx.h"

#include <algorithm>

namespace shard {
namespace {

std::vector<RuleConfig>::iterator rule_named(std::vector<RuleConfig>& rules,
                                             const LogicalAxis& name) {
  return std::find_if(rules.begin(), rules.end(),
                      [&](const RuleConfig& rule) { return rule.logical == name; });
}

}  // namespace

NnxAnswer nnx_mesh_axes(const LogicalSpec& names, std::span<const RuleConfig> rules) {
  NnxAnswer answer;
  for (const std::optional<LogicalAxis>& name : names.names) {
    PartitionEntry entry;
    int chosen = -1;
    const bool is_asked = name && !name->empty();
    for (std::size_t i = 0; is_asked && i < rules.size(); ++i) {
      if (rules[i].logical == *name) chosen = static_cast<int>(i);
    }
    if (chosen >= 0) {
      entry = rules[static_cast<std::size_t>(chosen)].target;
    } else if (is_asked) {
      entry.axes.emplace_back(name->text());
    }
    answer.entries.push_back(std::move(entry));
    answer.rule_of.push_back(chosen);
  }
  return answer;
}

NnxRules composite_rules(std::span<const RuleConfig> context, std::span<const RuleConfig> own) {
  NnxRules made;
  if (context.empty() || own.empty()) {
    const std::span<const RuleConfig> given = context.empty() ? own : context;
    made.rules.assign(given.begin(), given.end());
    return made;
  }
  for (const RuleConfig& rule : context) {
    const auto found = rule_named(made.rules, rule.logical);
    if (found == made.rules.end()) {
      made.rules.push_back(rule);
    } else {
      found->target = rule.target;
    }
  }
  for (const RuleConfig& rule : own) {
    const auto found = rule_named(made.rules, rule.logical);
    if (found == made.rules.end()) {
      made.rules.push_back(rule);
    } else if (found->target != rule.target && !made.inconsistent) {
      made.inconsistent = rule;
    }
  }
  return made;
}

}  // namespace shard
