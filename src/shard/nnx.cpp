#include "shard/nnx.h"

#include <algorithm>

namespace shard {
namespace {

std::vector<RuleConfig>::iterator rule_named(std::vector<RuleConfig>& rules,
                                             const LogicalAxis& name) {
  return std::find_if(rules.begin(), rules.end(),
                      [&](const RuleConfig& rule) { return rule.logical == name; });
}

int last_rule(std::span<const RuleConfig> rules, const std::string& name) {
  int found = -1;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].logical.text() == name) found = static_cast<int>(i);
  }
  return found;
}

/// As Python prints the tuple; empty where nothing is looked up.
std::string tuple_text(const PartitionEntry& entry, TupleLookup tuples) {
  if (tuples == TupleLookup::none || entry.axes.empty()) return "";
  return entry.axes.size() == 1 ? "(" + to_string(entry) + ",)" : to_string(entry);
}

}  // namespace

NnxAnswer nnx_mesh_axes(const LogicalSpec& names, std::span<const RuleConfig> rules,
                        TupleLookup tuples) {
  NnxAnswer answer;
  for (std::size_t dim = 0; dim < names.names.size(); ++dim) {
    const std::optional<LogicalAxis>& name = names.names[dim];
    PartitionEntry entry = names.written(dim);
    const std::string asked = name ? name->text() : tuple_text(entry, tuples);
    const int chosen = asked.empty() ? -1 : last_rule(rules, asked);
    if (chosen >= 0) {
      entry = rules[static_cast<std::size_t>(chosen)].target;
    } else if (name && !asked.empty()) {
      entry.axes.emplace_back(asked);
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
