#pragma once
// Partitioning of several graphs on one mesh.

#include <memory>

#include "spmd/partition.h"

namespace shard {

namespace spmd {
struct LoweringTables;
}

/// The same for several graphs on one mesh: what is alike in them is worked out once.
class Partitioner {
 public:
  explicit Partitioner(const Mesh& mesh);
  ~Partitioner();
  Partitioner(const Partitioner&) = delete;
  Partitioner& operator=(const Partitioner&) = delete;

  /// `sharded` is on an equal mesh.
  Program run(const ShardedGraph& sharded, PartitionMode mode = PartitionMode::cheapest);

 private:
  Mesh mesh_;
  std::unique_ptr<spmd::LoweringTables> tables_;
};

}  // namespace shard
