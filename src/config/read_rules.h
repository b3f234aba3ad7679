#pragma once
// One rule, for the file and for the command line.

#include <optional>

#include "config/rules_config.h"
#include "text/tree.h"

namespace shard {

/// `[name, target]`. Raises `bad-rule`.
std::optional<RuleConfig> read_rule(const TextNode& node, Diagnostics& diagnostics);

}  // namespace shard
