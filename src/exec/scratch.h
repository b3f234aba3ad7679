#pragma once
// Memory a kernel needs for a moment (packed operands, widened numbers). It belongs to a worker,
// not to a device: it is counted on a line of its own.

#include <cstddef>
#include <memory>
#include <vector>

#include "base/units.h"

namespace shard {

/// Hands out 64-byte aligned pieces that live until `release`. Keeps what it once got, so a step in
/// a steady state allocates nothing.
class Scratch {
 public:
  std::byte* take(std::size_t bytes);

  template <class T>
  T* take_array(std::size_t count) {
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }

  /// Makes everything taken so far free again.
  void release() {
    if (!taken_.empty()) release_all();
  }

  /// How much is taken: for `rewind`.
  std::size_t mark() const { return taken_.size(); }
  /// Makes free again what was taken since the mark.
  void rewind(std::size_t mark);

  /// The most that was ever in use at once.
  Bytes peak() const { return Bytes(static_cast<std::int64_t>(peak_)); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Free> memory;
    std::size_t size = 0;
    std::size_t used = 0;
  };

  struct Piece {
    std::size_t chunk = 0;
    std::size_t size = 0;
  };

  void release_all();
  std::byte* take_from(std::size_t chunk, std::size_t size);

  std::vector<Chunk> chunks_;
  std::vector<Piece> taken_;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace shard
