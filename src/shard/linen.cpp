// Flax Linen's resolver (spec section 1.1). The order of the rules decides, not that of the dims: a
// rule takes effect whole or not at all, and a dim that has an answer keeps it.

#include <algorithm>

#include "shard/resolve.h"

namespace shard {
namespace {

int position_of(const LogicalSpec& names, const LogicalAxis& name) {
  const auto found = std::find(names.names.begin(), names.names.end(), name);
  return found == names.names.end() ? -1 : static_cast<int>(found - names.names.begin());
}

/// The first dim that already uses one of `axes`, or -1.
int taken_by(const std::vector<PartitionEntry>& entries, const std::vector<MeshAxis>& axes) {
  for (std::size_t dim = 0; dim < entries.size(); ++dim) {
    for (const MeshAxis& axis : axes) {
      const auto& own = entries[dim].axes;
      if (std::find(own.begin(), own.end(), axis) != own.end()) return static_cast<int>(dim);
    }
  }
  return -1;
}

}  // namespace

LinenAnswer logical_to_mesh_axes(const LogicalSpec& names, std::span<const RuleConfig> rules) {
  const std::size_t rank = names.names.size();
  LinenAnswer answer;
  for (std::size_t dim = 0; dim < rank; ++dim) answer.entries.push_back(names.written(dim));
  answer.rule_of.assign(rank, -1);
  answer.blocked.resize(rank);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const int at = position_of(names, rules[i].logical);
    if (at < 0) continue;
    const std::size_t dim = static_cast<std::size_t>(at);
    if (answer.rule_of[dim] >= 0) continue;
    const int other = taken_by(answer.entries, rules[i].target.axes);
    if (other >= 0) {
      answer.blocked[dim].push_back({static_cast<int>(i), other});
    } else {
      answer.entries[dim] = rules[i].target;
      answer.rule_of[dim] = static_cast<int>(i);
    }
  }
  return answer;
}

std::vector<LogicalAxis> repeated_names(const LogicalSpec& names) {
  std::vector<LogicalAxis> repeated;
  for (const std::optional<LogicalAxis>& name : names.names) {
    if (!name || std::count(names.names.begin(), names.names.end(), name) < 2) continue;
    if (std::find(repeated.begin(), repeated.end(), *name) == repeated.end()) {
      repeated.push_back(*name);
    }
  }
  return repeated;
}

}  // namespace shard
