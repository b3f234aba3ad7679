#include "spmd/plain_reduction.h"

#include <string>

namespace shard::spmd {
namespace {

/// What a dim gains.
struct Gain {
  std::string sliced;
  std::string scattered;
};

/// By dim.
std::optional<std::vector<Gain>> gains_of(const ReshardSpace& space) {
  const Layout &start = space.start(), &goal = space.goal();
  const std::string sums = start.substr(space.sums_begin(start));
  std::vector<Gain> gains(static_cast<std::size_t>(space.rank()));
  for (int dim = 0; dim < space.rank(); ++dim) {
    const auto [begin, end] = space.dim_range(start, dim);
    const auto [goal_begin, goal_end] = space.dim_range(goal, dim);
    const std::string now = start.substr(begin, end - begin);
    const std::string next = goal.substr(goal_begin, goal_end - goal_begin);
    if (next.compare(0, now.size(), now) != 0) return std::nullopt;
    Gain& gain = gains[static_cast<std::size_t>(dim)];
    for (const char piece : next.substr(now.size())) {
      const bool is_sum = sums.find(piece) != std::string::npos;
      if (!is_sum && !gain.scattered.empty()) return std::nullopt;
      (is_sum ? gain.scattered : gain.sliced) += piece;
    }
  }
  return gains;
}

}  // namespace

std::optional<std::vector<LayoutStep>> plain_reduction(const ReshardSpace& space) {
  Layout at = space.start();
  if (!space.is_even() || space.sums_begin(at) == at.size()) return std::nullopt;
  const auto gains = gains_of(space);
  if (!gains) return std::nullopt;
  std::vector<LayoutStep> steps;
  const auto append = [&](CollectiveKind kind, int dim, const std::string& pieces) {
    if (pieces.empty()) return;
    at = space.appended(at, dim, pieces).front();
    steps.push_back({kind, at});
  };
  for (int dim = 0; dim < space.rank(); ++dim)
    append(CollectiveKind::all_slice, dim, (*gains)[static_cast<std::size_t>(dim)].sliced);
  for (int dim = 0; dim < space.rank(); ++dim) {
    const std::string& pieces = (*gains)[static_cast<std::size_t>(dim)].scattered;
    for (const char piece : pieces) at = space.without_sum(at, piece);
    append(CollectiveKind::reduce_scatter, dim, pieces);
  }
  const std::size_t sums = space.sums_begin(at);
  if (sums < at.size()) steps.push_back({CollectiveKind::all_reduce, at.substr(0, sums)});
  return steps;
}

}  // namespace shard::spmd
