#pragma once
// Whether the iterations that a folded graph writes once are indeed equal.

#include <span>

#include "shard/sharded_graph.h"

namespace shard {

/// The values of an iteration that stands for several are split, and explained, as those before and
/// behind it; and nothing changes where that iteration is written twice. `widened` has, for each of
/// the iterations `folds`, the graph in which it is (`BuildOptions`). Then what holds for one more
/// iteration holds for any number of them.
bool goes_on_evenly(const ShardedGraph& folded, std::span<const ShardedGraph* const> widened,
                    std::span<const Iteration> folds);

}  // namespace shard
