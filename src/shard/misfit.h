#pragma once
// The policies for a dim that its mesh axes do not divide.

#include <cstdint>

#include "shard/axes.h"

namespace shard {

/// Axes of a dim that fit, and those that were dropped.
struct FittedAxes {
  Axes kept;
  Axes dropped;
};

/// `drop-axes`: from major to minor each axis is kept when it and those kept before divide the dim.
///
/// Example: a 2, b 4, c 3 on 12: a stays, b would make 8 pieces and goes, c makes 6 and stays.
FittedAxes fitted_axes(const Axes& axes, std::int64_t size);

}  // namespace shard
