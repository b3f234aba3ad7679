#pragma once
// Partitioning of several graphs on one mesh.

#include <memory>

#include "spmd/offsets.h"
#include "spmd/partition.h"

namespace shard {

namespace spmd {
struct LoweringTables;
}

/// A program, and how its collectives were chosen.
struct PartitionedProgram {
  Program program;
  PartitionMode mode = PartitionMode::cheapest;
};

/// The same for several graphs on one mesh: what is alike in them is worked out once.
class Partitioner {
 public:
  explicit Partitioner(const Mesh& mesh);
  ~Partitioner();
  Partitioner(const Partitioner&) = delete;
  Partitioner& operator=(const Partitioner&) = delete;

  /// As `partition` does it; `sharded` is on an equal mesh. In `cheapest` both modes are weighed,
  /// and the one that was taken is said.
  PartitionedProgram run(const ShardedGraph& sharded, PartitionMode mode = PartitionMode::cheapest,
                         Offsets offsets = Offsets::planned);
  /// In this mode, whatever the other one would send.
  Program run_as(PartitionMode mode, const ShardedGraph& sharded,
                 Offsets offsets = Offsets::planned);

 private:
  Mesh mesh_;
  std::unique_ptr<spmd::LoweringTables> tables_;
};

}  // namespace shard
