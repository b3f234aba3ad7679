#pragma once
// The rules of a file by number, with what became of each.

#include <string>
#include <vector>

#include "check/findings.h"

namespace shard {

/// The general rules first, then those of each part, numbered from 1 as in `RuleUse`.
struct UsedRule {
  const RuleConfig& rule;
  const RuleUse& use;
  int number;
};
std::vector<UsedRule> used_rules(const PlanFacts& facts);

/// `rule 2 [embed, [fsdp, data]]`.
std::string rule_text(int number, const LogicalAxis& logical, const PartitionEntry& target);
std::string rule_text(const UsedRule& used);

/// `fsdp`, `[fsdp, data]`, `None`, `UNCONSTRAINED`.
std::string target_text(const PartitionEntry& target);

/// A model that places everything by mesh axes asks no rule; then none of them is to blame.
bool asks_rules(const PlanFacts& facts);

}  // namespace shard
