#pragma once
// One dim of a sharded array in numbers and words: its parts, where each begins, on which devices.

#include <string>
#include <vector>

#include "shard/axes.h"
#include "shard/pieces.h"
#include "shard/sharding.h"

namespace shard {

/// Parts are equal as far as the size reaches: 5 in 4 parts is 2, 2, 1 and an empty one, as XLA
/// pads. A nested cut makes 2, 1, 1, 1 of them over two axes of 2.
struct PieceDim {
  std::int64_t size = 0;  ///< negative: unknown
  std::int64_t parts = 1;
  Axes axes;  ///< those of more than one part, major first
  UnevenCut cut = UnevenCut::flat;

  /// Elements of a whole part, the largest.
  std::int64_t piece() const;
  bool is_even() const { return size < 0 || size % parts == 0; }
  std::int64_t start(std::int64_t part) const;
  std::int64_t stop(std::int64_t part) const;

  /// `data 1`, `model 0`: where on each axis the part is.
  std::vector<std::string> labels(const Mesh& mesh, std::int64_t part) const;
  /// `4:8`, `empty`; nothing when the size is unknown.
  std::string range_text(std::int64_t part) const;
  /// `2 x 4`, `4 x 2 (2 whole, 1 of 1, 1 empty)`.
  std::string split_text() const;
  /// Distance in positions from part 0's devices to those of this part.
  std::int64_t offset(const Mesh& mesh, std::int64_t part) const;
};

std::vector<PieceDim> piece_dims(const Sharding& sharding, const Shape& shape,
                                 UnevenCut cut = UnevenCut::flat);

/// The number, or `?` for an unknown size.
std::string size_text(std::int64_t size);

}  // namespace shard
