#pragma once
// What pieces a dim has when it is split into more or fewer than divide it, as JAX does: blocks of
// ceil(size / parts), the last ones short or empty.

#include <cstdint>
#include <string>

namespace shard {

/// 17 in 8 parts: five blocks of 3, one of 2, two that hold nothing.
struct UnevenPieces {
  std::int64_t parts = 1;
  std::int64_t block = 0;
  std::int64_t full = 0;     ///< parts that hold a whole block
  std::int64_t rest = 0;     ///< what the part behind them holds; 0: nothing
  std::int64_t empty = 0;    ///< parts that hold nothing
  std::int64_t padding = 0;  ///< parts * block - size

  friend bool operator==(const UnevenPieces&, const UnevenPieces&) = default;
};

/// Assumes `size >= 0` and `parts >= 1`.
UnevenPieces uneven_pieces(std::int64_t size, std::int64_t parts);

/// `24 (7 padding, 41% over), pieces 5 x 3, 2, 2 x 0: 2 devices hold nothing`.
std::string pieces_text(const UnevenPieces& pieces);

}  // namespace shard
