#pragma once
// Specs through the rules to shardings, each dim with its reason: placement by path first, then the
// rules as Linen or NNX reads them (spec sections 1.1, 1.4 and 2.3).

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor_type.h"
#include "config/rules_config.h"
#include "shard/axes.h"
#include "shard/decisions.h"
#include "shard/nnx.h"
#include "shard/path_rules.h"
#include "shard/reasons.h"
#include "shard/sharding.h"

namespace shard {

/// What became of each rule of the file over all arrays asked so far; for findings. The general
/// rules first, then those of each part, in file order.
struct RuleUse {
  std::int64_t fired = 0;  ///< dims it decided
  std::int64_t named = 0;  ///< dims whose name it has
  Location at;
};

struct Resolved {
  Sharding sharding;   ///< closed but for UNCONSTRAINED dims; without size-1 axes
  PartitionSpec spec;  ///< as the resolver of Linen returns it
  ValueReasons reasons;
  bool is_constraint = true;  ///< false: no constraint at all (unmatched: no-constraint)
};

/// Flax Linen's `logical_to_mesh_axes`: ordered rules, all-or-nothing tuples, fall-through. One
/// entry per name; `rule_of` has the index of the rule that decided each dim or -1. Names must not
/// repeat.
struct LinenAnswer {
  /// A rule that names the dim but lost, and the dim that had one of its mesh axes.
  using Blocked = Deciders::Blocked;
  std::vector<PartitionEntry> entries;
  std::vector<int> rule_of;
  std::vector<std::vector<Blocked>> blocked;
};
LinenAnswer logical_to_mesh_axes(const LogicalSpec& names, std::span<const RuleConfig> rules);

/// Names that occur more than once, each once, in order of first occurrence; Linen refuses them.
std::vector<LogicalAxis> repeated_names(const LogicalSpec& names);

/// One array whose spec is asked for.
struct SpecQuestion {
  const SpecConfig& spec;
  const TensorType& type;
  Part part = Part::params;
  std::string what;                       ///< how messages call it: `params/DotReluDot_0/W2`
  std::span<const std::string> labels{};  ///< per dim, for messages; may be empty
  std::int64_t count = 1;                 ///< arrays that are asked for at once
  std::string followed{};   ///< the parameter that a slot or gradient mirrors; may be empty
  bool keeps_dims = false;  ///< dims that are UNCONSTRAINED stay as they are, on any mesh
};

/// Resolves specs against one rule set and mesh. Mistakes go to the Diagnostics given
/// (`duplicate-logical-name`, `unknown-mesh-axis`, `duplicate-mesh-axis`, `rank-mismatch`,
/// `indivisible` naming dim, size, factor per axis and the nearest legal sizes, `unmatched-name`,
/// `unconstrained-argument`, `nested-names`, those of `axis_type_mistakes` and
/// `read_sharding_text`) and the dim is then
/// left whole, so that one run reports them all. The same mistake at the same place is reported
/// once, for the first array that meets it.
///
/// An unannotated array is replicated. `unmatched: no-constraint` concerns constraints only
/// (activations), as in Flax; arguments and results are then whole in the unmatched dims. Without
/// any rules a constraint by logical names is none, as in Flax.
class Resolver {
 public:
  /// Keeps references to all three.
  Resolver(const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics);

  Resolved resolve(const SpecQuestion& question);
  /// Whether a glob of `paths` has the array, so that the rules are not asked.
  bool is_placed_by_path(const std::string& path, const std::string& followed) const {
    return paths_.find(path, followed) >= 0;
  }

  const std::vector<RuleUse>& uses() const { return uses_; }
  /// One per part and list of logical axes asked for, in order of first use.
  const std::vector<RuleDecision>& decisions() const { return decisions_; }
  /// By glob of `paths`: arrays that were placed by it.
  const std::vector<std::int64_t>& path_arrays() const { return paths_.arrays(); }
  /// Logical names asked for that no rule has, in order of first use, with where.
  const std::vector<std::pair<LogicalAxis, Location>>& unmatched() const { return unmatched_; }

 private:
  /// The rules asked for one part, in order, with their numbers in the file (from 0).
  struct PartRules {
    std::vector<RuleConfig> rules;
    std::vector<int> numbers;
    std::size_t own = 0;  ///< rules of the part alone, in front
  };

  /// What makes a mistake the same as one that was reported already.
  struct Mistake {
    std::string id;
    Location at;
    std::string what;
    std::string detail;
  };

  /// What was answered for one part and list of logical axes; asked again it is not worked out
  /// again.
  struct Decided {
    LinenAnswer answer;
    int decision = 0;  ///< position in `decisions_`
  };

  const PartRules& rules_of(Part part);
  const Decided& decide(const LogicalSpec& names, const PartRules& asked,
                        const SpecQuestion& question);
  RuleDecision decision_of(const LogicalSpec& names, const LinenAnswer& answer,
                           const PartRules& asked, const SpecQuestion& question) const;
  Reason reason_of(const LogicalSpec& names, const LinenAnswer& answer, const PartRules& asked,
                   std::size_t dim);
  void count_arrays(const LogicalSpec& names, RuleDecision& decision, const SpecQuestion& question);
  Resolved resolve_logical(const LogicalSpec& names, const SpecQuestion& question);
  static NnxAnswer nnx_answer(const LogicalSpec& names, const PartRules& asked);
  Resolved resolve_spec(const SpecQuestion& question);
  bool settle_misfit(Resolved& resolved, std::size_t dim, const SpecQuestion& question);
  Resolved resolve_mesh(const PartitionSpec& spec, const SpecQuestion& question);
  Resolved resolve_text(const ShardingText& text, const SpecQuestion& question);
  bool check_names(const LogicalSpec& names, const SpecQuestion& question);
  bool check_matched(const LogicalSpec& names, const std::vector<int>& rule_of,
                     const SpecQuestion& question);
  bool check_rank(std::size_t entries, const SpecQuestion& question);
  void place(Resolved& resolved, const SpecQuestion& question);
  void fit(Resolved& resolved, const SpecQuestion& question);
  bool check_flat(const LogicalSpec& names, const SpecQuestion& question);
  void check_axis_types(const Resolved& resolved, const SpecQuestion& question);
  void check_known(const Resolved& resolved, const SpecQuestion& question);
  void check_repeated(const Resolved& resolved, const SpecQuestion& question);
  void drop_indivisible(Resolved& resolved, const SpecQuestion& question);
  std::string hint_for_misfit(const Resolved& resolved, std::size_t dim,
                              const SpecQuestion& question) const;
  bool check_every_dim_is_named(Resolved& resolved, const SpecQuestion& question);
  void check_unconstrained(const Resolved& resolved, const SpecQuestion& question);
  void report(const Mistake& mistake, std::string message, std::string hint);

  const RulesConfig& rules_;
  const Mesh& mesh_;
  Diagnostics& diagnostics_;
  PathRules paths_;
  std::map<Part, PartRules> parts_;  ///< as far as they were asked for
  std::vector<RuleUse> uses_;
  std::vector<RuleDecision> decisions_;
  std::map<std::pair<Part, std::vector<std::string>>, Decided> decided_;
  std::vector<std::pair<LogicalAxis, Location>> unmatched_;
  std::set<std::string> reported_;
};

}  // namespace shard
