#pragma once
// The cheapest way from one sharding to another as a shortest path (Dijkstra 1959; A*: Hart,
// Nilsson and Raphael 1968).
//
// A collective_permute makes any layout with the same number of parts per dim of any other, for
// the local bytes. So with a permute on the way only the numbers of parts matter, and the graph is
// that of layouts over kinds. Without one the pieces matter too; there the distances over kinds,
// and the bytes that a device lacks, are lower bounds of what is left.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/kind_distances.h"
#include "spmd/reshard_space.h"

namespace shard::spmd {

struct SearchLimits {
  std::int64_t bytes = 0;    ///< only ways on which a device sends no more are of interest
  std::int64_t memory = 0;   ///< operand and result of a step together; 0: no limit
  std::int64_t layouts = 0;  ///< looked at before the search gives up
};

struct SearchResult {
  std::optional<std::vector<LayoutStep>> steps;  ///< nothing: none within the limits was found
  std::int64_t lower_bound = 0;  ///< what a device sends at least on any way over these pieces
};

SearchResult cheapest_path(const ReshardSpace& space, const SearchLimits& limits);

}  // namespace shard::spmd
