#pragma once
// Specs through the rules to shardings, each dim with its reason (Flax Linen's resolver).

#include <optional>
#include <vector>

#include "base/diagnostic.h"
#include "config/rules_config.h"
#include "shard/reasons.h"
#include "shard/sharding.h"

namespace shard {

/// What became of each rule of the file over all arrays asked so far; for findings.
struct RuleUse {
  int fired = 0;  ///< dims it decided
  int named = 0;  ///< dims whose name it has
  Location at;
};

struct Resolved {
  Sharding sharding;   ///< closed
  PartitionSpec spec;  ///< as the resolver of Linen returns it
  ValueReasons reasons;
  bool is_constraint = true;  ///< false: no constraint at all (unmatched: no-constraint)
};

/// Resolves specs against one rule set and mesh. Mistakes go to the Diagnostics given
/// (`duplicate-logical-name`, `unknown-mesh-axis`, `duplicate-mesh-axis`, `rank-mismatch`,
/// `indivisible` naming dim, size, factor per axis and the nearest legal sizes, `unmatched-name`)
/// and the dim is then left whole, so that one run reports them all.
class Resolver {
 public:
  Resolver(const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics);

  /// `what` is how messages call the array (`params/DotReluDot_0/W2`).
  Resolved resolve(const SpecConfig& spec, const TensorType& type, Part part,
                   const std::string& what);

  const std::vector<RuleUse>& uses() const { return uses_; }
  /// Logical names asked for that no rule has, in order of first use, with where.
  const std::vector<std::pair<LogicalAxis, Location>>& unmatched() const { return unmatched_; }

 private:
  const RulesConfig& rules_;
  const Mesh& mesh_;
  Diagnostics& diagnostics_;
  std::vector<RuleUse> uses_;
  std::vector<std::pair<LogicalAxis, Location>> unmatched_;
};

/// Flax Linen's `logical_to_mesh_axes`: ordered rules, all-or-nothing tuples, fall-through. One
/// entry per name; `rule_of` gets the index of the rule that decided each dim or -1.
struct LinenAnswer {
  std::vector<PartitionEntry> entries;
  std::vector<int> rule_of;
  std::vector<std::vector<int>> blocked_rules;  ///< rules that named the dim but lost
};
LinenAnswer logical_to_mesh_axes(const LogicalSpec& names, const std::vector<RuleConfig>& rules);

}  // namespace shard
