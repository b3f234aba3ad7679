#pragma once
// Where a device sits in its hardware, from its id alone.

#include <cstdint>
#include <string>

#include "mesh/topology.h"

namespace shard {

struct DevicePlace {
  std::int64_t slice = 0;
  Grid chip = {0, 0, 0};  ///< x y z; of GPUs and CPUs x is the number in the node or process
  std::int64_t core = 0;
  std::int64_t host = 0;  ///< number of its process

  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

/// Ids count slice, z, y, x, core with the core fastest.
DevicePlace place_of(const Topology& topology, std::int64_t id);

/// Links from chip to chip between two devices of one slice: the torus' shortest way, rings closed
/// where they are; 0 on one chip. Devices of a switched network are one link apart.
std::int64_t link_count(const Topology& topology, const DevicePlace& a, const DevicePlace& b);

/// What the hardware calls a group of devices joined by fast links: `slice`, `node`, `process`.
std::string slice_word(const Topology& topology);

}  // namespace shard
