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
  enter_auto,      ///< a value enters a region whose axes (attribute `axes`) are of type auto
  leave_auto,      ///< the region's result, placed as its out_sharding says
  enter_explicit,  ///< a value enters a region whose axes are of type explicit, split like this
  leave_explicit,  ///< the region's result
  enter_manual,    ///< a value enters a manual region, whose in_specs say how it is split already
  manual,          ///< inside a manual region: every device has a part of its own
};

/// Attribute `asks`; without it a constraint.
inline PlacementAsk ask_of(const Attributes& attributes) {
  return attributes.has("asks") ? static_cast<PlacementAsk>(attributes.integer("asks"))
                                : PlacementAsk::constraint;
}

}  // namespace shard
