#pragma once
// Adding many members' arrays element by element, in a fixed order.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "exec/collective.h"
#include "ops/factors.h"

namespace shard {

struct StreamPlaces {
  std::vector<const std::byte*> in;  ///< in the order of the reduction
  std::vector<std::byte*> out;       ///< all get the result; may be the places of `in`
};

/// Operands and results of the members in this order, from `offset` bytes on.
StreamPlaces places_from(std::span<const MemberPlace> members, std::span<const int> order,
                         std::int64_t offset);

/// Reduces `count` elements of all inputs.
using StreamReduction = std::function<void(const StreamPlaces& places, std::int64_t count)>;

/// For arrays of any dtype. Floats of 8 and 16 bits are added in float32 and rounded once; sums and
/// products of integers wrap; a sum or maximum of truths is whether one is true, a product or
/// minimum whether all are.
StreamReduction stream_reduction(Reduction reduction, DType dtype);

/// Asks for memory that is used next: where many arrays are walked in turn, each begins in a page
/// of its own that no prefetcher foresees.
void ask_for(const std::byte* from, std::size_t bytes);

/// True of so many arrays that they are added one after another, a tile at a time.
bool are_added_in_turn(std::int64_t arrays);

/// True of float32 and the floats that are widened to it.
bool adds_in_f32(DType dtype);

}  // namespace shard
