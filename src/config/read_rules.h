#pragma once
// Rules, one by one and as lists, for the file and for the command line.

#include <optional>
#include <vector>

#include "config/rules_config.h"
#include "text/tree.h"

namespace shard {

/// `[name, target]`. Raises `bad-rule`, `duplicate-mesh-axis` (an axis twice in one target); warns
/// of letters that look like others (`look-alike-name`).
std::optional<RuleConfig> read_rule(const TextNode& node, Diagnostics& diagnostics);

/// The rules of a list; those that are refused are left out.
std::vector<RuleConfig> read_rule_items(const TextNode& list, Diagnostics& diagnostics);

/// `[["*q_proj.weight", P(tensor, fsdp)], ...]`. Raises `bad-path-rule` and what `read_spec` does.
std::vector<PathRuleConfig> read_path_rules(const TextNode& list, Diagnostics& diagnostics);

}  // namespace shard
