#pragma once
// Values as Python source.

#include <string>
#include <string_view>
#include <vector>

#include "config/rules_config.h"

namespace shard {

/// `'data'`, with what Python needs escaped.
std::string python_text(std::string_view text);

/// `('a', 'b')`, `('a',)`, `()`.
std::string python_tuple(const std::vector<std::string>& items);

/// `(('batch', 'data'), ('mlp', ('fsdp', 'tensor')), ('kv', None))`, one rule a line.
std::string python_rules(const std::vector<RuleConfig>& rules);

/// `('embed', None)`.
std::string python_names(const LogicalSpec& names);

}  // namespace shard
