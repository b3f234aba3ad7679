#include "spmd/partition.h"

#include <utility>

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
PartitionedProgram cheapest(spmd::LoweringFacts& facts) {
  Program compatible = lowered(facts, PartitionMode::compatible);
  const Bytes most = wire_of(compatible);
  if (most == Bytes(0)) return {std::move(compatible), PartitionMode::compatible};
  Program program = lowered(facts, PartitionMode::cheapest);
  if (wire_of(program) < most) return {std::move(program), PartitionMode::cheapest};
  return {std::move(compatible), PartitionMode::compatible};
}

/// What is left to do behind lowering.
void finish(Program& program, Offsets offsets) {
  spmd::schedule_updates(program);
  spmd::share_places(program);
  spmd::renumber(program);
  spmd::categorize(program);
  if (offsets == Offsets::planned) plan_memory(program);
}

}  // namespace

Partitioner::Partitioner(const Mesh& mesh)
    : mesh_(mesh), tables_(std::make_unique<spmd::LoweringTables>(mesh_)) {}

Partitioner::~Partitioner() = default;

PartitionedProgram Partitioner::run(const ShardedGraph& sharded, PartitionMode mode,
                                    Offsets offsets) {
  if (mode == PartitionMode::compatible) return {run_as(mode, sharded, offsets), mode};
  spmd::LoweringFacts facts(sharded, *tables_);
  PartitionedProgram made = cheapest(facts);
  finish(made.program, offsets);
  return made;
}

Program Partitioner::run_as(PartitionMode mode, const ShardedGraph& sharded, Offsets offsets) {
  spmd::LoweringFacts facts(sharded, *tables_);
  Program program = lowered(facts, mode);
  finish(program, offsets);
  return program;
}

Program partition(const ShardedGraph& sharded, PartitionMode mode) {
  return Partitioner(sharded.mesh).run(sharded, mode).program;
}

}  // namespace shard
