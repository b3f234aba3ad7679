#include "spmd/kind_distances.h"

#include <algorithm>

namespace shard::spmd {

KindDistances::KindDistances(const ReshardSpace& space, const LayoutMoves& moves,
                             std::int64_t most_cost, std::int64_t most_layouts)
    : space_(space), moves_(moves), most_cost_(most_cost), start_(space.kinds_of(space.start())) {
  push(space.kinds_of(space.goal()), 0, 0, -1, {});
  run(most_layouts);
}

std::optional<std::int64_t> KindDistances::distance(const Layout& kinds, int plane) const {
  const auto found = index_[plane].find(kinds);
  if (found == index_[plane].end() || !node(found->second).is_done) return std::nullopt;
  return node(found->second).cost;
}

void KindDistances::push(const Layout& kinds, int plane, std::int64_t cost, int next,
                         const LayoutMove& move) {
  if (cost >= most_cost_) return;
  const auto [found, is_new] = index_[plane].try_emplace(kinds, static_cast<int>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({kinds, plane, cost, next, move, false});
  } else {
    Node& known = nodes_[static_cast<std::size_t>(found->second)];
    if (known.is_done || known.cost <= cost) return;
    known.cost = cost;
    known.next = next;
    known.move = move;
  }
  queue_.emplace(cost, found->second);
}

void KindDistances::run(std::int64_t most_layouts) {
  while (!queue_.empty()) {
    const auto [cost, at] = queue_.top();
    queue_.pop();
    if (node(at).is_done) continue;
    if (most_layouts-- <= 0) return;
    nodes_[static_cast<std::size_t>(at)].is_done = true;
    const Layout kinds = node(at).kinds;
    const int plane = node(at).plane;
    // Nothing that costs more is of interest once the start is reached.
    if (plane == 1 && kinds == start_) most_cost_ = std::min(most_cost_, cost + 1);
    moves_.into(kinds, [&, cost = cost, at = at](const Layout& before, std::int64_t more,
                                                 const LayoutMove& move) {
      push(before, plane, cost + more, at, move);
    });
    add_permutes(kinds, cost, at);
  }
  is_complete_ = true;
}

/// Not while something is summed over: a permute is cheaper when that is reduced.
void KindDistances::add_permutes(const Layout& kinds, std::int64_t cost, int at) {
  if (space_.sums_begin(kinds) < kinds.size()) return;
  const std::optional<std::int64_t> more = moves_.permute_cost(kinds);
  if (!more || cost + *more >= most_cost_) return;
  for (const Layout& before : space_.rearranged(kinds))
    push(before, 1, cost + *more, at, {CollectiveKind::collective_permute, -1, -1, 0});
}

/// Up to the last permute the pieces follow from the start.
std::vector<LayoutStep> KindDistances::permuted_path() const {
  std::vector<LayoutStep> steps;
  Layout at = space_.start();
  int here = index_[1].at(start_);
  for (; node(node(here).next).plane == 1; here = node(here).next) {
    const LayoutMove& move = node(here).move;
    at = moves_.forward(at, move, node(node(here).next).kinds);
    steps.push_back({move.kind, at});
  }
  const std::vector<LayoutStep> rest = from_permute(here, at);
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

/// The last permute and what comes behind it, where the pieces follow from the goal.
std::vector<LayoutStep> KindDistances::from_permute(int permute, const Layout& before) const {
  std::vector<int> way;
  for (int at = permute; at >= 0; at = node(at).next) way.push_back(at);
  std::vector<LayoutStep> steps;
  Layout at = space_.goal();
  for (std::size_t i = way.size() - 1; i-- > 0;) {
    const Node& from = node(way[i]);
    steps.push_back({from.move.kind, at});
    if (i > 0) at = moves_.backward(at, from.move, from.kinds, before);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace shard::spmd
