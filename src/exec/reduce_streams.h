#pragma once
// Adding many members' arrays element by element, in a fixed order.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/dtype.h"
#include "ops/factors.h"

namespace shard {

struct StreamPlaces {
  std::vector<const std::byte*> in;  ///< in the order of the reduction
  std::vector<std::byte*> out;       ///< all get the result; may be the places of `in`
};

/// Reduces `count` elements of all inputs.
using StreamReduction = std::function<void(const StreamPlaces& places, std::int64_t count)>;

/// For arrays of `dtype` and `members` inputs; nothing when this dtype has no such reduction.
/// 16-bit floats are added in float32 and rounded once.
std::optional<StreamReduction> stream_reduction(Reduction reduction, DType dtype, int members);

}  // namespace shard
