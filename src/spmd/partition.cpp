#include "spmd/partition.h"

#include "spmd/lowering.h"
#include "spmd/passes.h"
#include "spmd/places.h"

namespace shard {
namespace {

Program lowered(const ShardedGraph& sharded, PartitionMode mode) {
  Program program = spmd::lower(sharded, mode);
  spmd::simplify(program);
  return program;
}

/// Choosing op by op may lose in the end, so the other way is weighed too.
Program cheapest(const ShardedGraph& sharded) {
  Program compatible = lowered(sharded, PartitionMode::compatible);
  const Bytes most = wire_of(compatible);
  if (most == Bytes(0)) return compatible;
  Program program = lowered(sharded, PartitionMode::cheapest);
  return wire_of(program) < most ? program : compatible;
}

}  // namespace

Program partition(const ShardedGraph& sharded, PartitionMode mode) {
  Program program = mode == PartitionMode::cheapest ? cheapest(sharded) : lowered(sharded, mode);
  spmd::schedule_updates(program);
  spmd::share_places(program);
  spmd::renumber(program);
  spmd::categorize(program);
  plan_memory(program);
  return program;
}

}  // namespace shard
