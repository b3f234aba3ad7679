#pragma once
// Flax NNX's way from logical names to mesh axes (spec section 1.4): a dictionary instead of
// Linen's ordered rules. For telling a user where the two differ, and for models that are meant for
// NNX.

#include <optional>
#include <span>
#include <vector>

#include "config/rules_config.h"

namespace shard {

/// How a tuple of mesh axes among the names is looked up: by its text, as `get_partition_spec` does
/// (a rule may be named `('a', 'b')`), or not at all, as where a variable is created.
enum class TupleLookup { by_text, none };

/// Each name is looked up by itself, the last rule of a name wins, and a name without a rule is
/// taken for a mesh axis. Nothing keeps two dims from getting the same mesh axis; building the
/// sharding refuses that.
struct NnxAnswer {
  std::vector<PartitionEntry> entries;
  std::vector<int> rule_of;  ///< index of the rule that was looked up, -1 for none
};
NnxAnswer nnx_mesh_axes(const LogicalSpec& names, std::span<const RuleConfig> rules,
                        TupleLookup tuples = TupleLookup::by_text);

/// Rules in context and a variable's own, as NNX puts them together: one list as it is when the
/// other is empty; else each name once, the last of the context, and an own rule may repeat a name
/// only with the same target.
struct NnxRules {
  std::vector<RuleConfig> rules;
  std::optional<RuleConfig> inconsistent;  ///< the first own rule that disagrees
};
NnxRules composite_rules(std::span<const RuleConfig> context, std::span<const RuleConfig> own);

}  // namespace shard
