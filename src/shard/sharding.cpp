#include "shard/sharding.h"

namespace shard {

Sharding open_sharding(int rank) {
  Sharding sharding;
  sharding.dims.resize(static_cast<std::size_t>(rank), DimSharding{{}, true});
  return sharding;
}

Sharding replicated_sharding(int rank) {
  Sharding sharding;
  sharding.dims.resize(static_cast<std::size_t>(rank));
  return sharding;
}

std::int64_t part_count(const DimSharding& dim) { return product(dim.axes); }

}  // namespace shard
