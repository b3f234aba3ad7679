#pragma once
// The first half of partitioning: every node becomes instructions over local shapes, with a
// collective wherever an array is wanted split in another way than it is. Each buffer is written
// once and has no place yet.

#include "shard/sharded_graph.h"
#include "spmd/partition_mode.h"
#include "spmd/program.h"

namespace shard::spmd {

/// A `repeat` becomes a loop whose carries have the sharding of the body's parameters; slices and
/// stacked outputs keep the leading dim whole. Equal reshards are made once.
Program lower(const ShardedGraph& sharded, PartitionMode mode);

/// The program's arrays of one element type, split: what one device holds.
TensorType local_type(const TensorType& global, const Sharding& sharding);

}  // namespace shard::spmd
