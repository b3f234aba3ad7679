#pragma once
// What a `constrain` node asks for. All of them leave the numbers alone; in explicit mode they say
// different things about types.

#include <cstdint>

#include "ops/attributes.h"

namespace shard {

enum class PlacementAsk : std::int64_t {
  constraint,    ///< with_sharding_constraint
  out_sharding,  ///< of the product, look-up or the like that made the value
  reshard,
  enter_auto,  ///< a value enters a region whose axes (attribute `axes`) are of type auto
  leave_auto,  ///< the region's result, placed as its out_sharding says
};

/// Attribute `asks`; without it a constraint.
inline PlacementAsk ask_of(const Attributes& attributes) {
  return attributes.has("asks") ? static_cast<PlacementAsk>(attributes.integer("asks"))
                                : PlacementAsk::constraint;
}

}  // namespace shard
