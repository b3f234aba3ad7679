#pragma once
// What a device needs of its neighbours along one split dim: a window of the array that moves with
// the number of the device's part. One collective_permute fetches it, a halo exchange.
//
// x[16] in 4 parts of 4, a sum over windows of 3 with one element of padding before and behind:
// part q of the result needs the 6 elements from 4q - 1, so start -1, step 4, size 6. Each part
// sends one element to the part before it and one to the part behind it.

#include <cstdint>

namespace shard {

/// Part q gets the elements from `start + q * step` up to `size` more along the dim, and zeros
/// where the array has none.
struct PartWindow {
  std::int64_t start = 0;
  std::int64_t step = 0;
  std::int64_t size = 0;

  std::int64_t begin(std::int64_t part) const { return start + part * step; }
  friend bool operator==(const PartWindow&, const PartWindow&) = default;
};

/// Positions [first, last); empty unless first < last.
struct PositionRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t count() const { return first < last ? last - first : 0; }
};

/// The largest whole number up to a / b; `b` is positive.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b);

/// What part `to` gets from part `from`, in positions of the whole dim. Parts have `part_size`
/// elements.
PositionRange fetched(const PartWindow& window, std::int64_t part_size, std::int64_t from,
                      std::int64_t to);

/// The parts that may get something from part `from` of `parts`.
PositionRange receivers(const PartWindow& window, std::int64_t part_size, std::int64_t parts,
                        std::int64_t from);

/// The most elements along the dim that one part sends to others. Takes time in the number of
/// parts of this dim.
std::int64_t most_sent(const PartWindow& window, std::int64_t part_size, std::int64_t parts);

/// Some part's window reaches beyond the array, so that it holds zeros that are no elements.
bool reaches_beyond(const PartWindow& window, std::int64_t array_size, std::int64_t parts);

}  // namespace shard
