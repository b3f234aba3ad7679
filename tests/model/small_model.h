#pragma once
// The smallest model that layers can be put into.

#include "support/model_configs.h"

namespace shard::tests {

/// An input `x` of [batch 2, embed 4]; hidden is 8.
inline ModelBuilder small() {
  ModelBuilder builder({{"batch", 2}, {"embed", 4}, {"hidden", 8}});
  builder.input("x", {"batch", "embed"});
  return builder;
}

}  // namespace shard::tests
