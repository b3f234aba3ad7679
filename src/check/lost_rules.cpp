// Rules that name dims and lose them: to another dim that has their mesh axis, or to an earlier
// rule.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check/finders.h"
#include "check/saving.h"
#include "check/used_rules.h"

namespace shard {
namespace {

/// Where a rule lost: the dim of a decision, and why.
struct Loss {
  std::size_t decision = 0;
  std::size_t dim = 0;
  const RuleLoss* why = nullptr;
};

std::map<int, std::vector<Loss>> losses_by_rule(const ShardedGraph& sharded) {
  std::map<int, std::vector<Loss>> all;
  for (std::size_t i = 0; i < sharded.decisions.size(); ++i) {
    const auto& dims = sharded.decisions[i].dims;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      for (const RuleLoss& lost : dims[dim].lost) all[lost.rule].push_back({i, dim, &lost});
    }
  }
  return all;
}

bool is_size_one(const RuleLoss& loss) {
  return loss.cause == RuleLoss::Cause::axis_taken && loss.axis_size == 1;
}

/// What the rule would have given with the axes that are free: the axes that save most, and what.
struct Remedy {
  std::vector<int> axes;
  Bytes bytes;
};

/// Everything the two finders ask.
class LostRules {
 public:
  explicit LostRules(const PlanFacts& facts)
      : facts_(facts),
        losses_(losses_by_rule(facts.sharded)),
        leaves_(leaves_by_decision(facts.sharded, facts.model)) {}

  const std::vector<Loss>& of(int rule) const {
    static const std::vector<Loss> none;
    const auto found = losses_.find(rule);
    return found == losses_.end() ? none : found->second;
  }

  const RuleDecision& decision(const Loss& loss) const {
    return facts_.sharded.decisions[loss.decision];
  }

  /// Whether the dim was left whole: no other rule decided it.
  bool is_undecided(const Loss& loss) const { return decision(loss).dims[loss.dim].rule == 0; }

  Remedy remedy(const std::vector<Loss>& losses) const {
    std::map<std::vector<int>, Bytes> by_axes;
    for (const Loss& loss : losses) {
      if (!is_undecided(loss)) continue;
      const auto leaves = leaves_.find(static_cast<int>(loss.decision));
      if (leaves == leaves_.end()) continue;
      for (const PlacedLeaf& leaf : leaves->second) {
        const std::vector<int> axes = free_axes(mesh(), leaf, loss.why->target);
        const auto bytes = axes.empty() ? std::nullopt : saving(mesh(), leaf, loss.dim, axes);
        if (bytes) by_axes[axes] += *bytes;
      }
    }
    Remedy best;
    for (const auto& [axes, bytes] : by_axes) {
      if (bytes > best.bytes) best = {axes, bytes};
    }
    return best;
  }

  const Mesh& mesh() const { return facts_.sharded.mesh; }

  /// `the rule [embed, fsdp] behind the others`; empty when nothing is free.
  std::string fix(const LogicalAxis& logical, const Remedy& remedy) const {
    if (remedy.axes.empty()) return "";
    return "the rule [" + logical.text() + ", " + target_text(mesh(), remedy.axes) +
           "] behind the others";
  }

  /// `dim 1 (mlp) has it from rule 1`.
  std::string taker(const Loss& loss) const {
    const auto& names = decision(loss).names.names;
    const auto other = static_cast<std::size_t>(loss.why->other_dim);
    std::string text = "dim " + std::to_string(other);
    if (names[other]) text += " (" + names[other]->text() + ')';
    return text + (loss.why->winner > 0 ? " has it from rule " + std::to_string(loss.why->winner)
                                        : " has it as written");
  }

  /// `in [embed, mlp] of params/w`.
  std::string where(const Loss& loss) const {
    return "in " + to_string(decision(loss).names) + " of " + decision(loss).first;
  }

  std::int64_t arrays(const std::vector<Loss>& losses) const {
    std::int64_t count = 0;
    for (const Loss& loss : losses) count += decision(loss).arrays;
    return count;
  }

 private:
  const PlanFacts& facts_;
  std::map<int, std::vector<Loss>> losses_;
  std::map<int, std::vector<PlacedLeaf>> leaves_;
};

/// `fsdp_t is taken in [embed, mlp] of w: dim 1 (mlp) has it from rule 1`.
std::string taken_text(const LostRules& lost, const Loss& loss) {
  return loss.why->axis.text() + " is taken " + lost.where(loss) + ": " + lost.taker(loss);
}

std::string decided_text(const Loss& loss, const LogicalAxis& logical,
                         const PartitionEntry& winner) {
  const std::string text = rule_text(loss.why->winner, logical, winner);
  if (!winner.axes.empty() || winner.is_unconstrained) {
    return text + " always decides " + logical.text() + " before it";
  }
  return "unreachable after " + text + ", which is final";
}

Finding shadowed_finding(const LostRules& lost, const UsedRule& used,
                         const std::vector<Loss>& losses, const FindingKind& kind) {
  const auto taken = std::find_if(losses.begin(), losses.end(), [](const Loss& loss) {
    return loss.why->cause == RuleLoss::Cause::axis_taken && !is_size_one(*loss.why);
  });
  Finding finding{Severity::note, std::string(kind.id), used.rule.at, "", "", Bytes(0)};
  finding.message = rule_text(used) + " never decides (" + with_commas(lost.arrays(losses)) +
                    (lost.arrays(losses) == 1 ? " dim has" : " dims have") + " that name): ";
  if (taken != losses.end()) {
    const Remedy remedy = lost.remedy(losses);
    if (lost.is_undecided(*taken)) finding.severity = kind.severity;
    finding.message += taken_text(lost, *taken);
    finding.cost = remedy.bytes;
    finding.fix = lost.fix(used.rule.logical, remedy);
    return finding;
  }
  const DimDecision& dim = lost.decision(losses.front()).dims[losses.front().dim];
  const bool is_final = dim.target.axes.empty() && !dim.target.is_unconstrained;
  if (is_final) finding.severity = kind.severity;
  finding.message += decided_text(losses.front(), used.rule.logical, dim.target);
  finding.fix = is_final ? "put it before rule " + std::to_string(losses.front().why->winner) +
                               ", or drop one of the two"
                         : "drop it";
  return finding;
}

}  // namespace

std::vector<Finding> find_rules_shadowed(const PlanFacts& facts, const FindingKind& kind) {
  const LostRules lost(facts);
  std::vector<Finding> found;
  for (const UsedRule& used : used_rules(facts)) {
    if (used.use.named == 0 || used.use.fired > 0) continue;
    const std::vector<Loss>& losses = lost.of(used.number);
    // One axis of one device that blocks it everywhere is told as that.
    const bool is_told = std::all_of(losses.begin(), losses.end(),
                                     [](const Loss& loss) { return is_size_one(*loss.why); });
    if (!is_told) found.push_back(shadowed_finding(lost, used, losses, kind));
  }
  return found;
}

std::vector<Finding> find_axes_of_size_one_that_block(const PlanFacts& facts,
                                                      const FindingKind& kind) {
  const LostRules lost(facts);
  std::vector<Finding> found;
  for (const UsedRule& used : used_rules(facts)) {
    std::vector<Loss> blocked;
    for (const Loss& loss : lost.of(used.number)) {
      if (is_size_one(*loss.why) && lost.is_undecided(loss)) blocked.push_back(loss);
    }
    const auto splits = [&](const MeshAxis& axis) {
      const auto position = lost.mesh().find(axis);
      return position && lost.mesh().size(*position) > 1;
    };
    const auto& axes = used.rule.target.axes;
    if (blocked.empty() || std::none_of(axes.begin(), axes.end(), splits)) continue;
    const Remedy remedy = lost.remedy(blocked);
    const Loss& first = blocked.front();
    found.push_back({remedy.bytes > Bytes(0) ? kind.severity : Severity::note, std::string(kind.id),
                     used.rule.at,
                     rule_text(used) + " is blocked by " + first.why->axis.text() +
                         ", which has one device, " + lost.where(first) + ": " + lost.taker(first),
                     lost.fix(used.rule.logical, remedy), remedy.bytes});
  }
  return found;
}

}  // namespace shard
