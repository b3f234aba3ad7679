#pragma once
// Sharded graph to program: common factor axes per op, reshards, collectives, local shapes,
// schedule, memory plan.

#include <vector>

#include "shard/sharded_graph.h"
#include "spmd/partition_mode.h"
#include "spmd/program.h"

namespace shard {

/// Partitions (equal reshards shared; never more bytes sent than in the compatible mode, and as
/// that one does where it sends no more and not more over the mesh's outer axes), simplifies
/// (all_reduce + all_slice to reduce_scatter, dead code), schedules (an update runs as soon as its
/// gradient is ready and nobody else will read the state it replaces), gives results their places,
/// and plans the memory. Throws `Error`
/// (`reshard-memory`) where a reshard needs more memory than `sharded.reshard_memory`.
Program partition(const ShardedGraph& sharded, PartitionMode mode = PartitionMode::cheapest);

/// Bytes that a device sends per step: all collectives, multiplied out.
Bytes wire_of(const Program& program);

/// Assigns offsets and fills `memory`; who has whose place (`alias_of`) stays as it is. Offsets are
/// multiples of 64.
void plan_memory(Program& program);

/// A line of the collectives table: equal collectives of the program, multiplied out over loops and
/// folded iterations, in order of first appearance. An all_slice moves nothing and is not counted.
struct CollectiveCount {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<AxisRef> axes;
  std::int64_t count = 0;  ///< executions per step
  Bytes payload;           ///< each
  Bytes wire;              ///< all executions together, per device
};
std::vector<CollectiveCount> count_collectives(const Program& program);

/// How XLA's combiner would merge them: each entry is one merged collective with the positions
/// (main body, or loop body) of its members. Collectives merge when kind, groups and reduction
/// agree and none depends on another, first fit in program order, without XLA's limits on bytes.
/// Permutes and all_to_alls are never merged; an all_slice is no collective there.
struct MergedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<AxisRef> axes;
  int body = 0;
  std::vector<int> members;  ///< instruction positions in that body
  std::int64_t times = 1;    ///< how often it runs per step
};
/// No iteration of the program may stand for several: see `unfold`.
std::vector<MergedCollective> xla_merge(const Program& program);

/// Merged collectives that look alike, in order of the first.
struct MergeCount {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<AxisRef> axes;
  std::int64_t members = 1;  ///< collectives of ours in each
  std::int64_t times = 1;    ///< how often one of them runs per step

  friend bool operator==(const MergeCount&, const MergeCount&) = default;
};
std::vector<MergeCount> count_merged(const std::vector<MergedCollective>& merged);

/// Adds to the entry that looks alike, or behind the last.
void add_merged(std::vector<MergeCount>& counts, const MergeCount& more);

}  // namespace shard
