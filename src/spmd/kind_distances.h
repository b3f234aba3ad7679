#pragma once
// How far it is to the goal when only the numbers of parts count.

#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "spmd/reshard_moves.h"

namespace shard::spmd {

/// One collective over one dim, or a permute of all.
struct LayoutStep {
  CollectiveKind kind = CollectiveKind::all_slice;
  Layout after;
};

/// Distances to the goal of layouts over kinds without a permute (plane 0) and with one or more
/// (plane 1). The former are lower bounds for layouts over pieces, the latter are exact for them.
class KindDistances {
 public:
  /// Looks at nothing that costs `most_cost` or more, and at no more than `most_layouts`.
  KindDistances(const ReshardSpace& space, const LayoutMoves& moves, std::int64_t most_cost,
                std::int64_t most_layouts);

  /// Everything below the limit of cost was looked at.
  bool is_complete() const { return is_complete_; }

  /// Nothing: not to be reached for less.
  std::optional<std::int64_t> distance(const Layout& kinds, int plane) const;

  /// The way of the start's distance in plane 1, with pieces.
  std::vector<LayoutStep> permuted_path() const;

 private:
  struct Node {
    Layout kinds;
    int plane = 0;
    std::int64_t cost = 0;
    int next = -1;  ///< towards the goal
    LayoutMove move;
    bool is_done = false;
  };
  using Entry = std::pair<std::int64_t, int>;

  void run(std::int64_t most_layouts);
  void push(const Layout& kinds, int plane, std::int64_t cost, int next, const LayoutMove& move);
  void add_permutes(const Layout& kinds, std::int64_t cost, int at);
  std::vector<LayoutStep> from_permute(int node, const Layout& before) const;
  const Node& node(int at) const { return nodes_[static_cast<std::size_t>(at)]; }

  const ReshardSpace& space_;
  const LayoutMoves& moves_;
  std::int64_t most_cost_;
  Layout start_;
  std::vector<Node> nodes_;
  std::unordered_map<Layout, int> index_[2];  ///< by plane
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  bool is_complete_ = false;
};

}  // namespace shard::spmd
