#include "spmd/partition.h"

#include <algorithm>
#include <utility>

#include "spmd/lowering.h"
#include "spmd/partitioner.h"
#include "spmd/passes.h"
#include "spmd/places.h"
#include "spmd/reshard_memory.h"

namespace shard {
namespace {

Program lowered(spmd::LoweringFacts& facts, PartitionMode mode) {
  Program program = spmd::lower(facts, mode);
  spmd::simplify(program);
  return program;
}

/// The largest step of a reshard that takes too much memory, then bytes sent.
struct Price {
  Bytes beyond;
  Bytes wire;

  friend auto operator<=>(const Price&, const Price&) = default;
};

Price price_of(const Program& program, Bytes memory) {
  const Bytes most = memory == Bytes(0) ? memory : largest_reshard(program);
  return {most > memory ? most : Bytes(0), wire_of(program)};
}

/// Bytes by mesh axis, what is sent over several counting for the outermost.
std::vector<Bytes> wire_by_axis(const Program& program) {
  std::vector<Bytes> wire(program.mesh.axes().size());
  for (const CollectiveCount& one : count_collectives(program)) {
    if (one.axes.empty()) continue;
    const AxisRef outermost = *std::min_element(one.axes.begin(), one.axes.end());
    wire[static_cast<std::size_t>(outermost.axis)] += one.wire;
  }
  return wire;
}

/// Choosing op by op may lose in the end, so the other way is weighed too. What sends as much in
/// all is better where the outer axes of the mesh carry less of it.
PartitionedProgram cheapest(spmd::LoweringFacts& facts) {
  const Bytes memory = facts.sharded.reshard_memory;
  Program compatible = lowered(facts, PartitionMode::compatible);
  const Price most = price_of(compatible, memory);
  if (most == Price{}) return {std::move(compatible), PartitionMode::compatible};
  Program program = lowered(facts, PartitionMode::cheapest);
  const Price price = price_of(program, memory);
  if (price < most || (price == most && wire_by_axis(program) < wire_by_axis(compatible)))
    return {std::move(program), PartitionMode::cheapest};
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
  spmd::check_reshard_memory(made.program, sharded);
  finish(made.program, offsets);
  return made;
}

Program Partitioner::run_as(PartitionMode mode, const ShardedGraph& sharded, Offsets offsets) {
  spmd::LoweringFacts facts(sharded, *tables_);
  Program program = lowered(facts, mode);
  spmd::check_reshard_memory(program, sharded);
  finish(program, offsets);
  return program;
}

Program partition(const ShardedGraph& sharded, PartitionMode mode) {
  return Partitioner(sharded.mesh).run(sharded, mode).program;
}

}  // namespace shard
