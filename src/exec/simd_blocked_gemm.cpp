#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_blocked_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <algorithm>

// The blocked product for many rows, used where no BLAS is found: both operands are packed into
// panels, a register tile of 6 rows by two vectors does the work. Source of the scheme: Goto and
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using BlockLanes = hn::CappedTag<float, 16>;

constexpr std::int64_t block_k = 256;
constexpr std::int64_t block_n = 1024;
constexpr std::int64_t block_m = 96;
constexpr std::int64_t tile_m = 6;

HWY_INLINE std::int64_t tile_n() { return 2 * static_cast<std::int64_t>(hn::Lanes(BlockLanes())); }

/// Rows [row, row+rows) of `a` at columns [k, k+depth), in panels of `tile` rows, column by column;
/// missing rows are zero.
HWY_INLINE void pack_panels(const MatrixView& a, std::int64_t row, std::int64_t rows,
                            std::int64_t k, std::int64_t depth, std::int64_t tile, float* to) {
  for (std::int64_t panel = 0; panel < rows; panel += tile) {
    const std::int64_t filled = std::min(tile, rows - panel);
    for (std::int64_t j = 0; j < depth; ++j, to += tile) {
      const float* from = a.data + (row + panel) * a.row_stride + (k + j) * a.column_stride;
      for (std::int64_t i = 0; i < filled; ++i) to[i] = from[i * a.row_stride];
      for (std::int64_t i = filled; i < tile; ++i) to[i] = 0.0F;
    }
  }
}

/// out[6][2 vectors] = A panel times B panel over `depth` terms.
HWY_INLINE void multiply_tile(std::int64_t depth, const float* a, const float* b, float* out) {
  const BlockLanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  auto s40 = hn::Zero(d), s41 = hn::Zero(d), s50 = hn::Zero(d), s51 = hn::Zero(d);
  for (std::int64_t k = 0; k < depth; ++k, a += tile_m, b += 2 * lanes) {
    const auto y0 = hn::LoadU(d, b), y1 = hn::LoadU(d, b + lanes);
    const auto x0 = hn::Set(d, a[0]), x1 = hn::Set(d, a[1]);
    s00 = hn::MulAdd(x0, y0, s00);
    s01 = hn::MulAdd(x0, y1, s01);
    s10 = hn::MulAdd(x1, y0, s10);
    s11 = hn::MulAdd(x1, y1, s11);
    const auto x2 = hn::Set(d, a[2]), x3 = hn::Set(d, a[3]);
    s20 = hn::MulAdd(x2, y0, s20);
    s21 = hn::MulAdd(x2, y1, s21);
    s30 = hn::MulAdd(x3, y0, s30);
    s31 = hn::MulAdd(x3, y1, s31);
    const auto x4 = hn::Set(d, a[4]), x5 = hn::Set(d, a[5]);
    s40 = hn::MulAdd(x4, y0, s40);
    s41 = hn::MulAdd(x4, y1, s41);
    s50 = hn::MulAdd(x5, y0, s50);
    s51 = hn::MulAdd(x5, y1, s51);
  }
  const auto put = [&](std::int64_t row, auto v0, auto v1) HWY_ATTR {
    hn::StoreU(v0, d, out + row * 2 * lanes);
    hn::StoreU(v1, d, out + row * 2 * lanes + lanes);
  };
  put(0, s00, s01);
  put(1, s10, s11);
  put(2, s20, s21);
  put(3, s30, s31);
  put(4, s40, s41);
  put(5, s50, s51);
}

/// C tile (+)= out, as far as it reaches into C.
HWY_INLINE void place_tile(bool first, const float* out, std::int64_t rows, std::int64_t columns,
                           float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const float before = first ? 0.0F : c[i * n + j];
      c[i * n + j] = before + out[i * tile_n() + j];
    }
  }
}

void blocked(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c, float* packing) {
  const std::int64_t width = tile_n();
  const MatrixView b_rows{b.data, b.column_stride, b.row_stride};  // its columns, as rows
  HWY_ALIGN float out[tile_m * 32];
  if (sizes.k == 0) std::fill(c, c + sizes.m * sizes.n, 0.0F);
  for (std::int64_t j0 = 0; j0 < sizes.n; j0 += block_n) {
    const std::int64_t columns = std::min(block_n, sizes.n - j0);
    for (std::int64_t k0 = 0; k0 < sizes.k; k0 += block_k) {
      const std::int64_t depth = std::min(block_k, sizes.k - k0);
      float* packed_b = packing;
      float* packed_a = packing + (columns + width - 1) / width * width * depth;
      pack_panels(b_rows, j0, columns, k0, depth, width, packed_b);
      for (std::int64_t i0 = 0; i0 < sizes.m; i0 += block_m) {
        const std::int64_t rows = std::min(block_m, sizes.m - i0);
        pack_panels(a, i0, rows, k0, depth, tile_m, packed_a);
        for (std::int64_t j = 0; j < columns; j += width) {
          for (std::int64_t i = 0; i < rows; i += tile_m) {
            multiply_tile(depth, packed_a + i * depth, packed_b + j * depth, out);
            place_tile(k0 == 0, out, std::min(tile_m, rows - i), std::min(width, columns - j),
                       c + (i0 + i) * sizes.n + j0 + j, sizes.n);
          }
        }
      }
    }
  }
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(blocked);

void blocked_gemm(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c, float* packing) {
  best_form(blocked_forms, instruction_sets())(sizes, a, b, c, packing);
}

std::size_t blocked_packing(const GemmSizes& sizes) {
  constexpr std::int64_t most_tile_n = 32;  // two of the widest vectors
  const std::int64_t k = std::min<std::int64_t>(sizes.k, 256);
  const std::int64_t n = std::min<std::int64_t>(sizes.n, 1024) + most_tile_n;
  const std::int64_t m = std::min<std::int64_t>(sizes.m, 96) + 6;
  return static_cast<std::size_t>(k * (n + m));
}

}  // namespace shard
#endif
