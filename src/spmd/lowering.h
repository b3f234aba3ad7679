#pragma once
// The first half of partitioning: every node becomes instructions over local shapes, with a
// collective wherever an array is wanted split in another way than it is. Each buffer is written
// once and has no place yet.

#include "shard/sharded_graph.h"
#include "spmd/op_kinds.h"
#include "spmd/partition_mode.h"
#include "spmd/program.h"
#include "spmd/reshard_choice.h"
#include "spmd/value_kinds.h"

namespace shard::spmd {

/// What is worked out once, whatever is partitioned on one mesh.
struct LoweringTables {
  /// `mesh` must outlive this.
  explicit LoweringTables(const Mesh& mesh) : ops(mesh), reshards(mesh) {}

  ValueKindTable values;
  OpKindTable ops;
  ReshardChoice reshards;
};

/// What is worked out of one sharded graph, however often it is lowered.
struct LoweringFacts {
  /// Both must outlive this.
  LoweringFacts(const ShardedGraph& of, LoweringTables& tables);
  LoweringFacts(const LoweringFacts&) = delete;
  LoweringFacts& operator=(const LoweringFacts&) = delete;

  const ShardedGraph& sharded;
  ValueKinds values;
  OpKinds ops;
  ReshardChoice& reshards;
};

/// A `repeat` becomes a loop whose carries have the sharding of the body's parameters; slices and
/// stacked outputs keep the leading dim whole. Equal reshards are made once.
Program lower(LoweringFacts& facts, PartitionMode mode);

/// The program's arrays of one element type, split: what one device holds.
TensorType local_type(const TensorType& global, const Sharding& sharding);

}  // namespace shard::spmd
