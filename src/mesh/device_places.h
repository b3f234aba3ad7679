#pragma once
// Which device stands at each position of a mesh, worked out when somebody first asks: planning
// works on axes and never does, so that a plan for many devices costs what one for few costs.

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "mesh/topology.h"

namespace shard {

class DevicePlaces {
 public:
  using Work = std::function<std::vector<std::int64_t>()>;

  explicit DevicePlaces(Work work) : work_(std::move(work)) {}

  /// Device ids in row-major order of the mesh. Safe to call from several threads.
  const std::vector<std::int64_t>& ids() const;

 private:
  Work work_;
  mutable std::once_flag once_;
  mutable std::vector<std::int64_t> ids_;
};

/// The hardware a mesh lies on, where the rules name it.
struct MeshHardware {
  Topology topology;
  Shape ici;  ///< per mesh axis: how much of it stays inside a slice (a node, for GPUs)
  Shape dcn;  ///< and how much crosses slices; ici times dcn is the axis
};

}  // namespace shard
