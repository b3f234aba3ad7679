#pragma once
// Small slices in the order of a ring: fixed permutations that JAX knows by device kind, tried
// before the torus algorithm. They make neighbours on the last mesh axis neighbours on the wires.

#include <cstddef>
#include <optional>
#include <vector>

#include "mesh/device.h"

namespace shard {

/// For every row-major position of a mesh of `sizes`, the position in `devices`; nothing when the
/// kind of the last device has no fixed order for this slice and these sizes. The product of the
/// sizes is the number of devices. May throw what `physical_mesh` throws.
std::optional<std::vector<std::size_t>> ring_order(const Shape& sizes,
                                                   const std::vector<Device>& devices,
                                                   const Location& at);

}  // namespace shard
