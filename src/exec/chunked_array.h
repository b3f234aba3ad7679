#pragma once
// An array cut into chunks, and its chunks into the parts that segments are about. A chunk is
// either a stretch of the array or one of the blocks along a dim.

#include <algorithm>
#include <cstdint>

#include "base/tensor_type.h"

namespace shard {

/// Elements [begin, begin + count) of a chunk.
struct ChunkPart {
  int chunk = 0;
  std::int64_t begin = 0, count = 0;
  bool starts_chunk = false;
};

class ChunkedArray {
 public:
  ChunkedArray() = default;
  /// `total` elements in stretches that differ by one at most, the larger first; parts of at most
  /// `step` elements.
  static ChunkedArray stretches(std::int64_t total, int chunks, std::int64_t step);
  /// All `total` elements are chunk `which`; the others are empty.
  static ChunkedArray only(std::int64_t total, int chunks, int which, std::int64_t step);
  /// `chunks` blocks like `part`, joined along `dim`.
  static ChunkedArray blocks(const TensorType& part, int dim, int chunks, std::int64_t step);

  std::int64_t part_count() const { return chunks_ * parts_; }
  /// May be empty.
  ChunkPart part(std::int64_t number) const;

  int chunks() const { return static_cast<int>(chunks_); }
  std::int64_t size(int chunk) const { return begin(chunk + 1) - begin(chunk); }

  /// Visits the contiguous pieces of a part in the whole array:
  /// `visit(place in the array, place in the part, count)`, all in elements.
  template <class Visit>
  void for_each_piece(const ChunkPart& part, const Visit& visit) const {
    if (block_ == 0) return visit(begin(part.chunk) + part.begin, std::int64_t{0}, part.count);
    for (std::int64_t done = 0; done < part.count;) {
      const std::int64_t at = part.begin + done, inside = at % block_;
      const std::int64_t count = std::min(part.count - done, block_ - inside);
      visit((at / block_ * chunks_ + part.chunk) * block_ + inside, done, count);
      done += count;
    }
  }

 private:
  ChunkedArray(std::int64_t total, int chunks, std::int64_t block, std::int64_t step);

  /// The larger of stretches come first, so that an empty one is never before one that is not.
  std::int64_t begin(int chunk) const {
    if (only_ >= 0) return chunk > only_ ? total_ : 0;
    return total_ / chunks_ * chunk + std::min<std::int64_t>(chunk, total_ % chunks_);
  }

  std::int64_t total_ = 0;
  std::int64_t chunks_ = 1;
  int only_ = -1;           ///< the one chunk that is not empty
  std::int64_t block_ = 0;  ///< elements of a chunk that are contiguous; 0: all
  std::int64_t step_ = 1;   ///< elements of a part
  std::int64_t parts_ = 1;  ///< of a chunk
};

/// Elements are stored in one type and added in another, which holds more.
class AddingType {
 public:
  /// `reduces`: floats of 8 and 16 bits are added in float32; else nothing is added.
  AddingType(DType stored, bool reduces);

  DType stored() const { return stored_; }
  DType added() const { return added_; }
  std::int64_t stored_width() const { return stored_width_; }
  std::int64_t added_width() const { return added_width_; }

  void widen(const std::byte* from, std::byte* to, std::int64_t count) const;
  void narrow(const std::byte* from, std::byte* to, std::int64_t count) const;

 private:
  DType stored_, added_;
  std::int64_t stored_width_, added_width_;
};

}  // namespace shard
