#include "spmd/partition.h"

#include "spmd/lowering.h"
#include "spmd/passes.h"
#include "spmd/places.h"

namespace shard {

Program partition(const ShardedGraph& sharded) {
  Program program = spmd::lower(sharded);
  spmd::simplify(program);
  spmd::schedule_updates(program);
  spmd::share_places(program);
  spmd::renumber(program);
  spmd::categorize(program);
  plan_memory(program);
  return program;
}

}  // namespace shard
