#include "spmd/partition.h"

#include "spmd/lowering.h"
#include "spmd/partitioner.h"
#include "spmd/passes.h"
#include "spmd/places.h"

namespace shard {
namespace {

Program lowered(spmd::LoweringFacts& facts, PartitionMode mode) {
  Program program = spmd::lower(facts, mode);
  spmd::simplify(program);
  return program;
}

/// Choosing op by op may lose in the end, so the other way is weighed too.
Program cheapest(spmd::LoweringFacts& facts) {
  Program compatible = lowered(facts, PartitionMode::compatible);
  const Bytes most = wire_of(compatible);
  if (most == Bytes(0)) return compatible;
  Program program = lowered(facts, PartitionMode::cheapest);
  if (wire_of(program) < most) return program;
  return compatible;
}

}  // namespace

Partitioner::Partitioner(const Mesh& mesh)
    : mesh_(mesh), tables_(std::make_unique<spmd::LoweringTables>(mesh_)) {}

Partitioner::~Partitioner() = default;

Program Partitioner::run(const ShardedGraph& sharded, PartitionMode mode) {
  spmd::LoweringFacts facts(sharded, *tables_);
  Program program = mode == PartitionMode::cheapest ? cheapest(facts) : lowered(facts, mode);
  spmd::schedule_updates(program);
  spmd::share_places(program);
  spmd::renumber(program);
  spmd::categorize(program);
  plan_memory(program);
  return program;
}

Program partition(const ShardedGraph& sharded, PartitionMode mode) {
  return Partitioner(sharded.mesh).run(sharded, mode);
}

}  // namespace shard
