#include "exec/blocked_gemm.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_blocked_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <hwy/cache_control.h>

#include <algorithm>

// The product for many rows: both operands are packed into panels, a register tile of 6 rows by two
// vectors does the work. Source of the scheme: Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication" (2008), with the loops around the tile as Van Zee and van de Geijn have
// them in "BLIS: A Framework for Rapidly Instantiating BLAS Functionality" (2015).

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using BlockLanes = hn::CappedTag<float, 16>;

HWY_INLINE std::int64_t tile_n() { return 2 * static_cast<std::int64_t>(hn::Lanes(BlockLanes())); }

/// `count` floats; from 4 on they are copied by vectors that may overlap.
HWY_INLINE void copy_few(const float* from, std::int64_t count, float* to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  if (count >= 4) {
    for (std::int64_t i = 0; i + 4 < count; i += 4) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(hn::LoadU(d, from + count - 4), d, to + count - 4);
    return;
  }
#endif
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

/// `count` terms of six rows that lie next to each other, by vectors of eight: what each writes too
/// much the next one writes over, so the last must not.
HWY_INLINE std::int64_t pack_sixes([[maybe_unused]] const float* from,
                                   [[maybe_unused]] std::int64_t stride,
                                   [[maybe_unused]] std::int64_t count,
                                   [[maybe_unused]] float* to) {
  std::int64_t k = 0;
#if HWY_MAX_BYTES >= 32
  const hn::FixedTag<float, 8> d;
  for (; k < count; ++k) hn::StoreU(hn::LoadU(d, from + k * stride), d, to + 6 * k);
#endif
  return k;
}

/// Panels of rows that lie next to each other: a few terms of each panel in turn, so that neither
/// what is read nor what is written needs many cache lines at once.
void pack_columns(const MatrixView& a, std::int64_t rows, std::int64_t depth, std::int64_t tile,
                  float* to) {
  constexpr std::int64_t terms = 8;
  for (std::int64_t k0 = 0; k0 < depth; k0 += terms) {
    const std::int64_t end = std::min(depth, k0 + terms);
    for (std::int64_t panel = 0; panel < rows; panel += tile) {
      const std::int64_t filled = std::min(tile, rows - panel);
      float* const out = to + panel * depth;
      const float* const from = a.data + panel;
      std::int64_t k = k0;
      if (tile == 6 && panel + 8 <= rows) {
        k += pack_sixes(from + k * a.column_stride, a.column_stride, std::min(end, depth - 1) - k,
                        out + k * tile);
      }
      for (; k < end; ++k) {
        copy_few(from + k * a.column_stride, filled, out + k * tile);
      }
    }
  }
}

/// Some rows of one panel, term by term.
HWY_INLINE void pack_strided(const MatrixView& a, std::int64_t rows, std::int64_t from,
                             std::int64_t depth, std::int64_t tile, float* to) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const row = a.data + i * a.row_stride;
    for (std::int64_t k = from; k < depth; ++k) to[k * tile + i] = row[k * a.column_stride];
  }
}

/// One panel of rows whose terms lie next to each other.
HWY_INLINE void pack_rows(const MatrixView& a, std::int64_t rows, std::int64_t depth,
                          std::int64_t tile, float* to) {
  std::int64_t packed = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  if (rows >= 4) {
    packed = depth / 4 * 4;
    for (std::int64_t row = 0; row < rows;
         row = row + 4 < rows ? std::min(row + 4, rows - 4) : rows) {
      const float* const r0 = a.data + row * a.row_stride;
      const float *r1 = r0 + a.row_stride, *r2 = r1 + a.row_stride, *r3 = r2 + a.row_stride;
      float* out = to + row;
      for (std::int64_t k = 0; k < packed; k += 4, out += 4 * tile) {
        const auto v0 = hn::LoadU(d, r0 + k), v1 = hn::LoadU(d, r1 + k);
        const auto v2 = hn::LoadU(d, r2 + k), v3 = hn::LoadU(d, r3 + k);
        const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
        const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
        const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
        const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + tile);
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * tile);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * tile);
      }
    }
  }
#endif
  pack_strided(a, rows, packed, depth, tile, to);
}

/// Rows [row, row+rows) of `a` at columns [k, k+depth), in panels of `tile` rows, column by column;
/// rows that the last panel lacks are left as they are.
HWY_INLINE void pack_panels(MatrixView a, std::int64_t row, std::int64_t rows, std::int64_t k,
                            std::int64_t depth, std::int64_t tile, float* to) {
  a.data += row * a.row_stride + k * a.column_stride;
  if (a.row_stride == 1) return pack_columns(a, rows, depth, tile, to);
  for (std::int64_t panel = 0; panel < rows; panel += tile, to += tile * depth) {
    const std::int64_t filled = std::min(tile, rows - panel);
    if (a.column_stride == 1) {
      pack_rows(a, filled, depth, tile, to);
    } else {
      pack_strided(a, filled, 0, depth, tile, to);
    }
    a.data += tile * a.row_stride;
  }
}

/// Where a tile of C lies, and whether it is added to.
struct BlockTile {
  float* c = nullptr;
  std::int64_t row_stride = 0;
  bool is_first = true;
};

template <int Vectors, class D, class V>
HWY_INLINE void put_row(D d, const BlockTile& tile, int row, V v0, V v1) {
  float* const to = tile.c + row * tile.row_stride;
  if (!tile.is_first) {
    v0 = hn::Add(hn::LoadU(d, to), v0);
    if constexpr (Vectors == 2) v1 = hn::Add(hn::LoadU(d, to + hn::Lanes(d)), v1);
  }
  hn::StoreU(v0, d, to);
  if constexpr (Vectors == 2) hn::StoreU(v1, d, to + hn::Lanes(d));
}

/// Rows of A as a tile reads them: a panel of `gemm_tile_rows` rows, or (`InPlace`) where they lie,
/// with the terms of a row next to each other.
template <bool InPlace>
struct TileRows {
  const float* data = nullptr;
  std::int64_t panel_stride = 0;  ///< between rows where InPlace, else of a whole panel

  static constexpr std::int64_t term_stride = InPlace ? 1 : gemm_tile_rows;
  HWY_INLINE std::int64_t row_stride() const { return InPlace ? panel_stride : 1; }
  HWY_INLINE TileRows from_row(std::int64_t row) const {
    return {data + row * row_stride(), panel_stride};
  }
  HWY_INLINE TileRows from_panel(std::int64_t panel) const {
    return {data + panel * panel_stride * (InPlace ? gemm_tile_rows : 1), panel_stride};
  }
};

/// Floats of an operand that are packed next, in runs that lie behind each other.
struct NextRuns {
  const float* data = nullptr;
  std::int64_t stride = 0;           ///< between runs
  std::int64_t runs = 0, lines = 0;  ///< lines of each run

  HWY_INLINE std::int64_t all_lines() const { return runs * lines; }
};

/// What is packed next: asked for while this block is multiplied, for packing waits for memory
/// otherwise.
struct NextRows {
  NextRuns now, then;
  std::int64_t run = 0, line = 0;
  std::int64_t at_once = 0;  ///< lines that `ask` asks for

  HWY_INLINE void ask() {
    constexpr std::int64_t floats_of_line = 16;
    for (std::int64_t count = at_once; count > 0 && run < now.runs; --count) {
      __builtin_prefetch(now.data + run * now.stride + line * floats_of_line, 0, 2);
      if (++line < now.lines) continue;
      line = 0;
      if (++run < now.runs) continue;
      now = then;
      then = {};
      run = 0;
    }
  }
};

/// How often a tile asks. Lines asked for all at once stop it until they come, every 32 terms some
/// do not; without vectors of 64 bytes the loop around the terms costs more than that gains.
constexpr std::int64_t terms_between_asks = 32;

constexpr std::int64_t asks_of(std::int64_t depth) {
  const bool is_worth_it = HWY_MAX_BYTES >= 64 && depth > 2 * terms_between_asks;
  return is_worth_it ? depth / terms_between_asks : 1;
}

/// C[Rows][Vectors vectors] (+)= rows of A times B panel over `depth` terms. A function of its own:
/// within its callers the loop would lack registers for its addresses.
template <int Rows, int Vectors, bool InPlace>
HWY_NOINLINE void multiply_tile(std::int64_t depth, const TileRows<InPlace>& rows, const float* b,
                                const BlockTile& tile, NextRows& next) {
  const float* a = rows.data;
  const std::int64_t stride = rows.row_stride();
  const BlockLanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (int row = 0; row < Rows; ++row) {
    hwy::Prefetch(tile.c + row * tile.row_stride);
    if constexpr (Vectors == 2) hwy::Prefetch(tile.c + row * tile.row_stride + 2 * lanes - 1);
  }
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  auto s40 = hn::Zero(d), s41 = hn::Zero(d), s50 = hn::Zero(d), s51 = hn::Zero(d);
  const auto add_term = [&](const float* x, const float* y) HWY_ATTR
      __attribute__((always_inline)) {
    const auto y0 = hn::LoadU(d, y), y1 = Vectors == 2 ? hn::LoadU(d, y + lanes) : y0;
    const auto add = [&](int row, auto& s0, auto& s1) HWY_ATTR {
      const auto x_row = hn::Set(d, x[row * stride]);
      s0 = hn::MulAdd(x_row, y0, s0);
      if constexpr (Vectors == 2) s1 = hn::MulAdd(x_row, y1, s1);
    };
    add(0, s00, s01);
    if constexpr (Rows > 1) add(1, s10, s11);
    if constexpr (Rows > 2) add(2, s20, s21);
    if constexpr (Rows > 3) add(3, s30, s31);
    if constexpr (Rows > 4) add(4, s40, s41);
    if constexpr (Rows > 5) add(5, s50, s51);
  };
  constexpr std::int64_t turn = InPlace ? 1 : 4;  // terms: a loop of one costs a tenth
  std::int64_t k = 0;
  const auto add_turns = [&](std::int64_t end) HWY_ATTR __attribute__((always_inline)) {
    for (; k + turn <= end; k += turn, a += turn * rows.term_stride, b += turn * 2 * lanes) {
      for (std::int64_t i = 0; i < turn; ++i) add_term(a + i * rows.term_stride, b + i * 2 * lanes);
    }
  };
  if (asks_of(depth) > 1) {
    for (std::int64_t end = terms_between_asks; end <= depth; end += terms_between_asks) {
      next.ask();
      add_turns(end);
    }
  } else {
    next.ask();
  }
  add_turns(depth);
  for (; k < depth; ++k, a += rows.term_stride, b += 2 * lanes) add_term(a, b);
  put_row<Vectors>(d, tile, 0, s00, s01);
  if constexpr (Rows > 1) put_row<Vectors>(d, tile, 1, s10, s11);
  if constexpr (Rows > 2) put_row<Vectors>(d, tile, 2, s20, s21);
  if constexpr (Rows > 3) put_row<Vectors>(d, tile, 3, s30, s31);
  if constexpr (Rows > 4) put_row<Vectors>(d, tile, 4, s40, s41);
  if constexpr (Rows > 5) put_row<Vectors>(d, tile, 5, s50, s51);
}

/// A panel of A that may lack rows, times whole vectors of B.
template <int Vectors, bool InPlace>
HWY_INLINE void multiply_rows(std::int64_t depth, std::int64_t rows, TileRows<InPlace> a,
                              const float* b, BlockTile tile, NextRows& next) {
  if (rows == gemm_tile_rows)
    return multiply_tile<gemm_tile_rows, Vectors>(depth, a, b, tile, next);
  const auto go_on = [&](std::int64_t done) {
    a = a.from_row(done);
    tile.c += done * tile.row_stride;
  };
  if (rows >= 4) {
    multiply_tile<4, Vectors>(depth, a, b, tile, next);
    go_on(4);
  }
  if (rows % 4 >= 2) {
    multiply_tile<2, Vectors>(depth, a, b, tile, next);
    go_on(2);
  }
  if (rows % 2 == 1) multiply_tile<1, Vectors>(depth, a, b, tile, next);
}

/// The same where the last columns fill no vector: by way of a tile of its own.
template <bool InPlace>
HWY_INLINE void multiply_edge(std::int64_t depth, std::int64_t rows, std::int64_t columns,
                              const TileRows<InPlace>& a, const float* b, const BlockTile& tile,
                              NextRows& next) {
  HWY_ALIGN float out[gemm_tile_rows * gemm_most_tile_columns];
  const std::int64_t width = tile_n();
  multiply_rows<2>(depth, rows, a, b, {out, width, true}, next);
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const to = tile.c + i * tile.row_stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      to[j] = (tile.is_first ? 0.0F : to[j]) + out[i * width + j];
    }
  }
}

HWY_INLINE NextRuns next_runs(const MatrixView& a, std::int64_t row, std::int64_t rows,
                              std::int64_t k, std::int64_t depth) {
  const float* const at = a.data + row * a.row_stride + k * a.column_stride;
  const auto lines = [](std::int64_t floats) { return (floats + 15) / 16; };
  if (rows <= 0 || depth <= 0) return {};
  if (a.row_stride == 1) return {at, a.column_stride, depth, lines(rows)};
  if (a.column_stride == 1) return {at, a.row_stride, rows, lines(depth)};
  return {};
}

/// Rows of A times columns of B in panels.
template <bool InPlace>
HWY_INLINE void multiply_panels(std::int64_t depth, std::int64_t rows, std::int64_t columns,
                                const TileRows<InPlace>& a, const float* b, const BlockTile& tile,
                                NextRows next) {
  const std::int64_t width = tile_n();
  const std::int64_t panels = (rows + gemm_tile_rows - 1) / gemm_tile_rows;
  const std::int64_t asks = panels * ((columns + width - 1) / width) * asks_of(depth);
  next.at_once = (next.now.all_lines() + next.then.all_lines() + asks - 1) / asks;
  for (std::int64_t j = 0; j < columns; j += width) {
    const std::int64_t filled = std::min(width, columns - j);
    const float* const b_panel = b + j * depth;
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t i = panel * gemm_tile_rows;
      const std::int64_t height = std::min(gemm_tile_rows, rows - i);
      const BlockTile part{tile.c + i * tile.row_stride + j, tile.row_stride, tile.is_first};
      if (filled == width) {
        multiply_rows<2>(depth, height, a.from_panel(panel), b_panel, part, next);
      } else if (2 * filled == width) {
        multiply_rows<1>(depth, height, a.from_panel(panel), b_panel, part, next);
      } else {
        multiply_edge(depth, height, filled, a.from_panel(panel), b_panel, part, next);
      }
    }
  }
}

/// Whether packing rows of A costs more than it gains: where not many columns use them, unless rows
/// lie whole pages apart, for those want the same places of the first-level cache.
HWY_INLINE bool stays_in_place(const MatrixView& a, std::int64_t columns) {
  constexpr std::int64_t floats_of_page = 1024, most_tiles = 16;
  return a.column_stride == 1 && columns <= most_tiles * tile_n() &&
         a.row_stride % floats_of_page != 0;
}

void blocked(const GemmSizes& sizes, MatrixView a, MatrixView b, MatrixPlace c, float* packing) {
  const GemmBlocks blocks = gemm_blocks(sizes);
  const MatrixView b_columns{b.data, b.column_stride, b.row_stride};
  const std::int64_t width = tile_n();
  for (std::int64_t i = 0; sizes.k == 0 && i < sizes.m; ++i) {
    std::fill_n(c.data + i * c.row_stride, sizes.n, 0.0F);
  }
  for (std::int64_t j0 = 0; j0 < sizes.n; j0 += blocks.n) {
    const std::int64_t columns = std::min(blocks.n, sizes.n - j0);
    for (std::int64_t k0 = 0; k0 < sizes.k; k0 += blocks.k) {
      const std::int64_t depth = std::min(blocks.k, sizes.k - k0);
      float* const packed_b = packing;
      float* const packed_a = packing + (columns + width - 1) / width * width * depth;
      if (columns % width != 0) {  // what the last panel lacks is multiplied, but not kept
        const std::int64_t last = columns / width * width * depth;
        std::fill(packed_b + last, packed_a, 0.0F);
      }
      pack_panels(b_columns, j0, columns, k0, depth, width, packed_b);
      for (std::int64_t i0 = 0; i0 < sizes.m; i0 += blocks.m) {
        const std::int64_t rows = std::min(blocks.m, sizes.m - i0);
        const std::int64_t next = i0 + rows, next_k = k0 + depth;
        const NextRows asked =
            next < sizes.m
                ? NextRows{next_runs(a, next, std::min(blocks.m, sizes.m - next), k0, depth), {}}
                : NextRows{next_runs(b_columns, j0, columns, next_k,
                                     std::min(blocks.k, sizes.k - next_k)),
                           next_runs(a, 0, std::min(blocks.m, sizes.m), next_k,
                                     std::min(blocks.k, sizes.k - next_k))};
        const BlockTile tile{c.data + i0 * c.row_stride + j0, c.row_stride, k0 == 0};
        if (stays_in_place(a, columns)) {
          const float* const at = a.data + i0 * a.row_stride + k0;
          multiply_panels(depth, rows, columns, TileRows<true>{at, a.row_stride}, packed_b, tile,
                          asked);
        } else {
          pack_panels(a, i0, rows, k0, depth, gemm_tile_rows, packed_a);
          multiply_panels(depth, rows, columns, TileRows<false>{packed_a, gemm_tile_rows * depth},
                          packed_b, tile, asked);
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

void blocked_gemm(const GemmSizes& sizes, MatrixView a, MatrixView b, MatrixPlace c,
                  float* packing) {
  best_form(blocked_forms, instruction_sets())(sizes, a, b, c, packing);
}

}  // namespace shard
#endif
