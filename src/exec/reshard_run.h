#pragma once
// A reshard done on virtual devices, and whether every byte is where it belongs.

#include <cstdint>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "spmd/cheapest_reshard.h"

namespace shard {

struct ReshardRun {
  std::int64_t devices = 0;
  std::int64_t wrong_bytes = 0;  ///< of the array that is put together from the devices
  Bytes planned_wire;            ///< of all steps
  Bytes counted_wire;            ///< from the elements that were really moved
  Bytes planned_peak;            ///< of the arena; the array before the first step stays there
  Bytes measured_peak;

  bool is_right() const {
    return wrong_bytes == 0 && counted_wire == planned_wire && measured_peak == planned_peak;
  }
};

/// Splits an array of known bytes as `from` says, does the steps, and compares what comes out. All
/// copies of a piece are compared with each other, so no device is left out. `from` leaves nothing
/// unreduced. Throws what `Cluster` throws.
ReshardRun run_reshard(const Mesh& mesh, const TensorType& global, const Sharding& from,
                       const std::vector<ReshardStep>& steps, const ClusterOptions& options);

}  // namespace shard
