#include "mesh/device_place.h"

#include <algorithm>
#include <cstdlib>

namespace shard {

DevicePlace place_of(const Topology& topology, std::int64_t id) {
  DevicePlace place;
  place.core = id % topology.cores;
  id /= topology.cores;
  for (std::size_t k = 0; k < place.chip.size(); ++k) {
    place.chip[k] = id % topology.grid[k];
    id /= topology.grid[k];
  }
  place.slice = place.host = id;
  for (std::size_t k = place.chip.size(); k-- > 0;) {
    const std::int64_t hosts = (topology.grid[k] + topology.host[k] - 1) / topology.host[k];
    place.host = place.host * hosts + place.chip[k] / topology.host[k];
  }
  return place;
}

std::int64_t link_count(const Topology& topology, const DevicePlace& a, const DevicePlace& b) {
  std::int64_t links = 0;
  for (std::size_t k = 0; k < a.chip.size(); ++k) {
    const std::int64_t straight = std::abs(a.chip[k] - b.chip[k]);
    const bool is_ring = topology.wraps[k];
    links += is_ring ? std::min(straight, topology.grid[k] - straight) : straight;
  }
  return topology.platform == "tpu" ? links : std::min<std::int64_t>(links, 1);
}

std::string slice_word(const Topology& topology) {
  if (topology.platform == "tpu") return "slice";
  return topology.platform == "gpu" ? "node" : "process";
}

}  // namespace shard
