#pragma once

#include <utility>
#include <vector>

#include "shard/sharding.h"

namespace shard::tests {

/// A sharding with closed dims, each split by these axes.
inline Sharding split(std::vector<Axes> dims) {
  Sharding sharding;
  for (Axes& axes : dims) sharding.dims.push_back({std::move(axes), false});
  return sharding;
}

}  // namespace shard::tests
