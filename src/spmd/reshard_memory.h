#pragma once
// What the reshards of a program take: each step holds its operand and its result at once. Sums,
// and what ops exchange within themselves, are no reshards.

#include "shard/sharded_graph.h"
#include "spmd/program.h"

namespace shard {

/// Operand and result of the largest step of a reshard, on one device; 0 without a reshard.
Bytes largest_reshard(const Program& program);

namespace spmd {

/// Throws `Error` (`reshard-memory`) with every reshard of the program that needs more than
/// `sharded.reshard_memory`, at the op that wants it.
void check_reshard_memory(const Program& program, const ShardedGraph& sharded);

}  // namespace spmd
}  // namespace shard
