#pragma once
// What the rules made of one list of logical axes, kept whole: the rule that decided each dim and
// every rule that names the dim and lost. Many arrays have the same list, so there are few of these
// whatever the size of the model.
//
// With the rules [mlp, [t, x]] and [embed, [d, t]] the list [embed, mlp] is decided so: dim 1 by
// rule 1; dim 0 by none, because rule 2 lost: dim 1 has `t` already, from rule 1.

#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "config/rules_config.h"
#include "mesh/mesh.h"

namespace shard {

/// A rule that names a dim and did not decide it. Rules are numbered from 1, as in `RuleUse`.
struct RuleLoss {
  enum class Cause {
    axis_taken,   ///< dim `other_dim` has `axis`: from `winner`, or as written
    dim_decided,  ///< `winner` decides the dim
  };
  int rule = 0;
  PartitionEntry target;
  Location at;
  Cause cause = Cause::axis_taken;
  int winner = 0;  ///< 0: none
  Location winner_at;
  int other_dim = -1;
  /// The axis that was taken; one of more than one device where there is any, because only such an
  /// axis would have split the dim.
  MeshAxis axis;
  std::int64_t axis_size = 0;  ///< 0: the mesh has no such axis

  friend bool operator==(const RuleLoss&, const RuleLoss&) = default;
};

/// What decided one dim.
struct DimDecision {
  int rule = 0;  ///< 0: none
  Location at;   ///< of that rule
  PartitionEntry target;
  std::vector<RuleLoss> lost;  ///< in the order the rules were asked

  friend bool operator==(const DimDecision&, const DimDecision&) = default;
};

struct RuleDecision {
  Part part = Part::params;
  LogicalSpec names;
  std::vector<DimDecision> dims;  ///< one per name
  PartitionSpec linen;            ///< what Linen's resolver answers
  PartitionSpec nnx;              ///< what NNX's answers
  std::int64_t arrays = 0;        ///< that were asked for with these names
  std::string first;              ///< the first of them, as messages call it
  Location first_at;

  friend bool operator==(const RuleDecision&, const RuleDecision&) = default;
};

/// Which rule decided each dim, and which were stopped by an axis that another dim had.
struct Deciders {
  struct Blocked {
    int rule = 0;
    int other_dim = 0;

    friend bool operator==(const Blocked&, const Blocked&) = default;
  };
  std::vector<PartitionEntry> entries;        ///< the answer
  std::vector<int> rule_of;                   ///< by dim: position in the rules, -1 for none
  std::vector<std::vector<Blocked>> blocked;  ///< by dim; empty where the resolver blocks nothing
};

/// The dims of a decision from a resolver's answer. `numbers` are the numbers (from 0) in the file
/// of the `rules` that were asked.
std::vector<DimDecision> dim_decisions(const LogicalSpec& names, const Deciders& deciders,
                                       std::span<const RuleConfig> rules,
                                       std::span<const int> numbers, const Mesh& mesh);

}  // namespace shard
