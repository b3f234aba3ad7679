#include "shard/decisions.h"

#include <algorithm>

namespace shard {
namespace {

std::int64_t size_in(const Mesh& mesh, const MeshAxis& axis) {
  const auto position = mesh.find(axis);
  return position ? mesh.size(*position) : 0;
}

/// Says which of the rule's axes the other dim has; one that splits, where there is one.
void name_taken_axis(RuleLoss& loss, const PartitionEntry& of_other, const Mesh& mesh) {
  for (const MeshAxis& axis : loss.target.axes) {
    if (std::find(of_other.axes.begin(), of_other.axes.end(), axis) == of_other.axes.end()) {
      continue;
    }
    const std::int64_t size = size_in(mesh, axis);
    if (loss.axis.empty() || (loss.axis_size <= 1 && size > 1)) {
      loss.axis = axis;
      loss.axis_size = size;
    }
  }
}

/// One list of names with the answer for it.
class Deciding {
 public:
  Deciding(const Deciders& deciders, std::span<const RuleConfig> rules,
           std::span<const int> numbers, const Mesh& mesh)
      : deciders_(deciders), rules_(rules), numbers_(numbers), mesh_(mesh) {}

  DimDecision dim(std::size_t dim, const std::optional<LogicalAxis>& name) const {
    DimDecision decision;
    const int decider = deciders_.rule_of[dim];
    if (decider >= 0) {
      decision.rule = number(decider);
      decision.at = rule(decider).at;
      decision.target = rule(decider).target;
    }
    for (int i = 0; name && i < static_cast<int>(rules_.size()); ++i) {
      if (i != decider && rule(i).logical == *name) decision.lost.push_back(loss(dim, i));
    }
    return decision;
  }

 private:
  const RuleConfig& rule(int position) const { return rules_[static_cast<std::size_t>(position)]; }
  int number(int position) const { return numbers_[static_cast<std::size_t>(position)] + 1; }

  RuleLoss loss(std::size_t dim, int position) const {
    RuleLoss loss;
    loss.rule = number(position);
    loss.target = rule(position).target;
    loss.at = rule(position).at;
    loss.cause = RuleLoss::Cause::dim_decided;
    int winner = deciders_.rule_of[dim];
    if (dim < deciders_.blocked.size()) {
      for (const Deciders::Blocked& blocked : deciders_.blocked[dim]) {
        if (blocked.rule != position) continue;
        loss.cause = RuleLoss::Cause::axis_taken;
        loss.other_dim = blocked.other_dim;
        winner = deciders_.rule_of[static_cast<std::size_t>(blocked.other_dim)];
      }
    }
    if (winner >= 0) {
      loss.winner = number(winner);
      loss.winner_at = rule(winner).at;
    }
    if (loss.cause == RuleLoss::Cause::axis_taken) {
      name_taken_axis(loss, deciders_.entries[static_cast<std::size_t>(loss.other_dim)], mesh_);
    }
    return loss;
  }

  const Deciders& deciders_;
  std::span<const RuleConfig> rules_;
  std::span<const int> numbers_;
  const Mesh& mesh_;
};

}  // namespace

std::vector<DimDecision> dim_decisions(const LogicalSpec& names, const Deciders& deciders,
                                       std::span<const RuleConfig> rules,
                                       std::span<const int> numbers, const Mesh& mesh) {
  const Deciding deciding(deciders, rules, numbers, mesh);
  std::vector<DimDecision> dims;
  for (std::size_t dim = 0; dim < names.names.size(); ++dim) {
    dims.push_back(deciding.dim(dim, names.names[dim]));
  }
  return dims;
}

}  // namespace shard
