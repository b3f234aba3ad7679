#pragma once
// The first half of partitioning: every node becomes instructions over local shapes, with a
// collective wherever an array is wanted split in another way than it is. Each buffer is written
// once and has no place yet.

#include "shard/sharded_graph.h"
#include "spmd/cheapest_reshard.h"
#include "spmd/program.h"

namespace shard::spmd {

/// For each op its common factor axes; operands that differ are resharded before it, from the
/// cheapest of all forms in which the value exists (so equal reshards are made once). A constraint
/// only says how its result is split when somebody wants it so. Partial results stay sums until
/// somebody needs more, and are then reduced on the way to what is needed, right behind the op. A
/// `repeat` becomes a loop whose carries have the sharding of the body's parameters; slices and
/// stacked outputs keep the leading dim whole; what no iteration changes is resharded before it.
Program lower(const ShardedGraph& sharded, ReshardMode mode = ReshardMode::cheapest);

/// The program's arrays of one element type, split: what one device holds.
TensorType local_type(const TensorType& global, const Sharding& sharding);

}  // namespace shard::spmd
