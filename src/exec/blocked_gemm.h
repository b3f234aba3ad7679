#pragma once
// The product for many rows, both operands packed. Operands and result are read and written where
// they lie.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "exec/simd.h"

namespace shard {

/// A result: element (row, column) is data[row * row_stride + column].
struct MatrixPlace {
  float* data = nullptr;
  std::int64_t row_stride = 0;
};

constexpr std::int64_t gemm_tile_rows = 6;           ///< of C, in registers
constexpr std::int64_t gemm_most_tile_columns = 32;  ///< two of the widest vectors

/// Rows, columns and terms that are packed at once.
struct GemmBlocks {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Blocks of equal size as far as possible: 16 columns of B (`k` terms) stay in the first-level
/// cache, A's block in the second-level one. They depend on the sizes alone, and so do the bits of
/// the result.
constexpr GemmBlocks gemm_blocks(const GemmSizes& sizes) {
  const auto equal = [](std::int64_t size, std::int64_t most, std::int64_t multiple) {
    const std::int64_t parts = std::max<std::int64_t>(1, (size + most - 1) / most);
    const std::int64_t part = (size + parts - 1) / parts;
    return (part + multiple - 1) / multiple * multiple;
  };
  return {equal(sizes.m, 144, gemm_tile_rows), equal(sizes.n, 1024, gemm_most_tile_columns),
          equal(sizes.k, 256, 4)};
}

/// Floats of packing space that `blocked_gemm` needs.
constexpr std::size_t blocked_packing(const GemmSizes& sizes) {
  const GemmBlocks blocks = gemm_blocks(sizes);
  return static_cast<std::size_t>(blocks.k * (blocks.n + blocks.m));
}

/// C = A B for any sizes and strides; fastest where one stride of each operand is 1. `packing`
/// holds `blocked_packing(sizes)` floats.
void blocked_gemm(const GemmSizes& sizes, MatrixView a, MatrixView b, MatrixPlace c,
                  float* packing);

}  // namespace shard
