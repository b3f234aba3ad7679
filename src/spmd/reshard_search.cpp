#include "spmd/reshard_search.h"

#include <algorithm>

namespace shard::spmd {
namespace {

/// The cheapest way without a permute, by A*.
class DirectSearch {
 public:
  DirectSearch(const ReshardSpace& space, const LayoutMoves& moves, const KindDistances& kinds,
               std::int64_t most_cost)
      : space_(space), moves_(moves), kinds_(kinds), most_cost_(most_cost) {
    push(space.start(), 0, -1, CollectiveKind::all_slice);
  }

  /// Ends when the goal is reached, when nothing cheaper is left, or after that many layouts.
  void run(std::int64_t most_layouts) {
    while (!queue_.empty()) {
      const auto [bound, cost, at] = queue_.top();
      bound_ = bound;
      if (nodes_[static_cast<std::size_t>(at)].is_done) {
        queue_.pop();
        continue;
      }
      if (nodes_[static_cast<std::size_t>(at)].layout == space_.goal()) {
        goal_ = at;
        return;
      }
      if (most_layouts-- <= 0) return;
      queue_.pop();
      expand(at);
    }
    bound_ = most_cost_;
  }

  /// No way without a permute costs less.
  std::int64_t bound() const { return bound_; }

  std::optional<std::vector<LayoutStep>> path() const {
    if (goal_ < 0) return std::nullopt;
    std::vector<LayoutStep> steps;
    for (int at = goal_; at > 0; at = nodes_[static_cast<std::size_t>(at)].before) {
      const Node& node = nodes_[static_cast<std::size_t>(at)];
      steps.push_back({node.kind, node.layout});
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  struct Node {
    Layout layout;
    std::int64_t cost = 0;
    std::int64_t left = 0;  ///< lower bound
    int before = -1;
    CollectiveKind kind = CollectiveKind::all_slice;
    bool is_done = false;
  };
  struct Entry {
    std::int64_t bound, cost;
    int at;
    /// Of equal bounds the one that is nearer to the goal first.
    bool operator<(const Entry& other) const {
      return bound != other.bound ? bound > other.bound : cost < other.cost;
    }
  };

  std::int64_t left_from(const Layout& layout) const {
    const auto distance = kinds_.distance(space_.kinds_of(layout), 0);
    if (!distance) return most_cost_;
    return std::max(*distance, space_.bytes_to_receive(layout) * LayoutMoves::per_byte);
  }

  void push(const Layout& layout, std::int64_t cost, int before, CollectiveKind kind) {
    const auto [found, is_new] = index_.try_emplace(layout, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({layout, most_cost_, left_from(layout), before, kind, false});
    Node& node = nodes_[static_cast<std::size_t>(found->second)];
    if (node.is_done || cost >= node.cost || cost + node.left >= most_cost_) return;
    node.cost = cost;
    node.before = before;
    node.kind = kind;
    queue_.push({cost + node.left, cost, found->second});
  }

  void expand(int at) {
    nodes_[static_cast<std::size_t>(at)].is_done = true;
    const Layout layout = nodes_[static_cast<std::size_t>(at)].layout;
    const std::int64_t cost = nodes_[static_cast<std::size_t>(at)].cost;
    moves_.from(layout, [&](const Layout& next, std::int64_t more, const LayoutMove& move) {
      push(next, cost + more, at, move.kind);
    });
  }

  const ReshardSpace& space_;
  const LayoutMoves& moves_;
  const KindDistances& kinds_;
  std::int64_t most_cost_;
  std::int64_t bound_ = 0;
  int goal_ = -1;
  std::vector<Node> nodes_;
  std::unordered_map<Layout, int> index_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

SearchResult cheapest_path(const ReshardSpace& space, const SearchLimits& limits) {
  SearchResult result;
  const LayoutMoves moves(space, limits.memory);
  const std::int64_t most = (limits.bytes + 1) * LayoutMoves::per_byte;
  const KindDistances kinds(space, moves, most, limits.layouts);
  const Layout start = space.kinds_of(space.start());
  const std::int64_t least = space.bytes_to_receive(space.start()) * LayoutMoves::per_byte;
  if (!kinds.is_complete()) {
    result.lower_bound = least / LayoutMoves::per_byte;
    return result;
  }
  const std::optional<std::int64_t> permuted = kinds.distance(start, 1);
  const std::int64_t most_direct = permuted.value_or(most);
  DirectSearch direct(space, moves, kinds, most_direct);
  direct.run(limits.layouts);
  result.steps = direct.path();
  if (!result.steps && permuted) result.steps = kinds.permuted_path();
  result.lower_bound = std::max(least, direct.bound()) / LayoutMoves::per_byte;
  return result;
}

}  // namespace shard::spmd
