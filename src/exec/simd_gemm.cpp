#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <hwy/cache_control.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<float>;
using FourLanes = hn::CappedTag<float, 4>;  // one lane where there are no vectors
using OneLane = hn::CappedTag<float, 1>;

HWY_INLINE float element(const MatrixView& a, std::int64_t row, std::int64_t column) {
  return a.data[row * a.row_stride + column * a.column_stride];
}

// Few rows, B row-major. Four rows of B pass through registers at a time; C (a panel that fits the
// first-level cache) gathers the sums. B is read once, each quarter of it front to back, which is
// what a product with a large B waits for: four rows of one page would be one stream to the
// prefetchers, and a broken one.

/// Columns of C kept while B passes by: about 16 KiB of C.
HWY_INLINE std::int64_t panel_columns(std::int64_t rows) {
  return std::max<std::int64_t>(64, 4096 / std::max<std::int64_t>(rows, 1) / 64 * 64);
}

/// Elements of a row of B, at least, between what is used and what is asked for.
constexpr std::int64_t fetched_ahead = 1024;

/// Asks for what comes a little later: the prefetchers lose a stream at the end of each page.
template <int Vectors, class D>
HWY_INLINE void fetch_ahead(D d, const float* from) {
  constexpr std::size_t line = 16;
  const std::size_t count = hn::Lanes(d) * Vectors;
  for (std::size_t i = 0; i < count; i += line) hwy::Prefetch(from + i);
}

/// What is asked for: of a product that follows, or of rows of `length` a little later.
HWY_INLINE std::int64_t ahead_by_rows(std::int64_t ahead, std::int64_t length) {
  return ahead != 0 ? ahead : std::max<std::int64_t>(1, fetched_ahead / length) * length;
}

/// The strides of B, in elements.
struct RowsWalk {
  std::int64_t n = 0;
  std::int64_t quarter = 0;
  std::int64_t ahead = 0;
};

/// C[:, j..] += the product of four columns of A (packed by row in `a4`) and four rows of B, which
/// lie a quarter of B from each other.
template <bool First, int Vectors, class D>
HWY_INLINE void add_four_terms(D d, std::int64_t m, const RowsWalk& walk, const float* a4,
                               const float* b, float* c) {
  const std::size_t lanes = hn::Lanes(d);
  const std::int64_t n = walk.n, ahead = walk.ahead;
  const float *b0 = b, *b1 = b0 + walk.quarter, *b2 = b1 + walk.quarter, *b3 = b2 + walk.quarter;
  fetch_ahead<Vectors>(d, b0 + ahead);
  fetch_ahead<Vectors>(d, b1 + ahead);
  fetch_ahead<Vectors>(d, b2 + ahead);
  fetch_ahead<Vectors>(d, b3 + ahead);
  const auto v00 = hn::LoadU(d, b0), v10 = hn::LoadU(d, b1);
  const auto v20 = hn::LoadU(d, b2), v30 = hn::LoadU(d, b3);
  if constexpr (Vectors == 2) {
    const auto v01 = hn::LoadU(d, b0 + lanes), v11 = hn::LoadU(d, b1 + lanes);
    const auto v21 = hn::LoadU(d, b2 + lanes), v31 = hn::LoadU(d, b3 + lanes);
    for (std::int64_t i = 0; i < m; ++i, a4 += 4, c += n) {
      auto s0 = First ? hn::Zero(d) : hn::LoadU(d, c);
      auto s1 = First ? hn::Zero(d) : hn::LoadU(d, c + lanes);
      const auto x0 = hn::Set(d, a4[0]), x1 = hn::Set(d, a4[1]);
      s0 = hn::MulAdd(x0, v00, s0);
      s1 = hn::MulAdd(x0, v01, s1);
      s0 = hn::MulAdd(x1, v10, s0);
      s1 = hn::MulAdd(x1, v11, s1);
      const auto x2 = hn::Set(d, a4[2]), x3 = hn::Set(d, a4[3]);
      s0 = hn::MulAdd(x2, v20, s0);
      s1 = hn::MulAdd(x2, v21, s1);
      s0 = hn::MulAdd(x3, v30, s0);
      s1 = hn::MulAdd(x3, v31, s1);
      hn::StoreU(s0, d, c);
      hn::StoreU(s1, d, c + lanes);
    }
  } else {
    for (std::int64_t i = 0; i < m; ++i, a4 += 4, c += n) {
      auto s = First ? hn::Zero(d) : hn::LoadU(d, c);
      s = hn::MulAdd(hn::Set(d, a4[0]), v00, s);
      s = hn::MulAdd(hn::Set(d, a4[1]), v10, s);
      s = hn::MulAdd(hn::Set(d, a4[2]), v20, s);
      s = hn::MulAdd(hn::Set(d, a4[3]), v30, s);
      hn::StoreU(s, d, c);
    }
  }
}

template <bool First>
void add_four_rows(const GemmSizes& sizes, const MatrixView& a, std::int64_t k, const float* b,
                   float* c, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t most_rows = 64;
  const Lanes d;
  const FourLanes four;
  const OneLane one;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t few = static_cast<std::int64_t>(hn::Lanes(four));
  const std::int64_t n = sizes.n;
  const std::int64_t terms = sizes.k / 4;
  const RowsWalk walk{n, terms * n, ahead_by_rows(sizes.ahead, n)};
  float a4[4 * most_rows];
  for (std::int64_t row = 0; row < sizes.m; row += most_rows) {
    const std::int64_t m = std::min(most_rows, sizes.m - row);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) a4[4 * i + j] = element(a, row + i, k + j * terms);
    }
    float* rows = c + row * n;
    std::int64_t j = from;
    for (; j + 2 * lanes <= to; j += 2 * lanes) {
      add_four_terms<First, 2>(d, m, walk, a4, b + j, rows + j);
    }
    for (; j + lanes <= to; j += lanes) add_four_terms<First, 1>(d, m, walk, a4, b + j, rows + j);
    for (; j + few <= to; j += few) add_four_terms<First, 1>(four, m, walk, a4, b + j, rows + j);
    for (; j < to; ++j) add_four_terms<First, 1>(one, m, walk, a4, b + j, rows + j);
  }
}

/// C[:, from..to) (+)= one column of A times one row of B.
HWY_INLINE void add_one_row(const GemmSizes& sizes, const MatrixView& a, std::int64_t k,
                            const float* b, float* c, std::int64_t from, std::int64_t to) {
  const Lanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < sizes.m; ++i) {
    const float x = element(a, i, k);
    float* row = c + i * sizes.n;
    std::int64_t j = from;
    for (; j + lanes <= to; j += lanes) {
      const auto s = k == 0 ? hn::Zero(d) : hn::LoadU(d, row + j);
      hn::StoreU(hn::MulAdd(hn::Set(d, x), hn::LoadU(d, b + j), s), d, row + j);
    }
    for (; j < to; ++j) row[j] = (k == 0 ? 0.0F : row[j]) + x * b[j];
  }
}

void few_rows(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  const std::int64_t columns = panel_columns(sizes.m);
  if (sizes.k == 0) std::fill(c, c + sizes.m * sizes.n, 0.0F);
  for (std::int64_t from = 0; from < sizes.n; from += columns) {
    const std::int64_t to = std::min(sizes.n, from + columns);
    std::int64_t k = 0;
    if (sizes.k >= 4) {
      add_four_rows<true>(sizes, a, 0, b, c, from, to);
      for (k = 1; k < sizes.k / 4; ++k) {
        add_four_rows<false>(sizes, a, k, b + k * sizes.n, c, from, to);
      }
      k *= 4;
    }
    for (; k < sizes.k; ++k) add_one_row(sizes, a, k, b + k * sizes.n, c, from, to);
  }
}

// Few rows, B transposed: every element of C is a dot product of two contiguous rows.

HWY_INLINE float tail_dot(const float* x, const float* y, std::int64_t from, std::int64_t to) {
  float s = 0;
  for (std::int64_t i = from; i < to; ++i) s += x[i] * y[i];
  return s;
}

/// Four rows of A with two rows of B, half of B apart: eight dot products. The first to pass by
/// these rows of B asks for the next.
template <bool First>
void dot_four_by_two(std::int64_t k, const float* a, std::int64_t lda, const float* b, float* c,
                     std::int64_t n, std::int64_t ahead) {
  const std::int64_t half = n / 2;
  const Lanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
  const float *b0 = b, *b1 = b + half * k;
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= k; i += lanes) {
    if (First) fetch_ahead<1>(d, b0 + ahead + i);
    if (First) fetch_ahead<1>(d, b1 + ahead + i);
    const auto y0 = hn::LoadU(d, b0 + i), y1 = hn::LoadU(d, b1 + i);
    const auto x0 = hn::LoadU(d, a0 + i), x1 = hn::LoadU(d, a1 + i);
    s00 = hn::MulAdd(x0, y0, s00);
    s01 = hn::MulAdd(x0, y1, s01);
    s10 = hn::MulAdd(x1, y0, s10);
    s11 = hn::MulAdd(x1, y1, s11);
    const auto x2 = hn::LoadU(d, a2 + i), x3 = hn::LoadU(d, a3 + i);
    s20 = hn::MulAdd(x2, y0, s20);
    s21 = hn::MulAdd(x2, y1, s21);
    s30 = hn::MulAdd(x3, y0, s30);
    s31 = hn::MulAdd(x3, y1, s31);
  }
  const auto total = [&](auto s) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, s)); };
  c[0] = total(s00) + tail_dot(a0, b0, i, k);
  c[half] = total(s01) + tail_dot(a0, b1, i, k);
  c[n] = total(s10) + tail_dot(a1, b0, i, k);
  c[n + half] = total(s11) + tail_dot(a1, b1, i, k);
  c[2 * n] = total(s20) + tail_dot(a2, b0, i, k);
  c[2 * n + half] = total(s21) + tail_dot(a2, b1, i, k);
  c[3 * n] = total(s30) + tail_dot(a3, b0, i, k);
  c[3 * n + half] = total(s31) + tail_dot(a3, b1, i, k);
}

/// Asks for elements of `y` that many later.
float dot_one(std::int64_t k, const float* x, const float* y, std::int64_t ahead) {
  const Lanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= k; i += 4 * lanes) {
    fetch_ahead<4>(d, y + ahead + i);
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, y + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), hn::LoadU(d, y + i + 3 * lanes), s3);
  }
  for (; i + lanes <= k; i += lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
  }
  const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  return hn::GetLane(hn::SumOfLanes(d, sum)) + tail_dot(x, y, i, k);
}

void few_rows_transposed(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  const std::int64_t n = sizes.n, k = sizes.k, lda = a.row_stride, half = n / 2;
  const std::int64_t ahead = k == 0 ? 0 : ahead_by_rows(sizes.ahead, k);
  for (std::int64_t j = 0; j < half; ++j) {
    const float* row = b + j * k;
    std::int64_t i = sizes.m >= 4 ? 4 : 0;
    if (i > 0) dot_four_by_two<true>(k, a.data, lda, row, c + j, n, ahead);
    for (; i + 4 <= sizes.m; i += 4) {
      dot_four_by_two<false>(k, a.data + i * lda, lda, row, c + i * n + j, n, ahead);
    }
    for (; i < sizes.m; ++i) {
      const std::int64_t later = i == 0 ? ahead : 0;
      c[i * n + j] = dot_one(k, a.data + i * lda, row, later);
      c[i * n + j + half] = dot_one(k, a.data + i * lda, row + half * k, later);
    }
  }
  for (std::int64_t i = 0; n % 2 == 1 && i < sizes.m; ++i) {
    c[i * n + n - 1] = dot_one(k, a.data + i * lda, b + (n - 1) * k, 0);
  }
}

// Few terms: C is written once, front to back, two rows at a time; B stays in cache.

/// Two rows of C (+)= four terms each.
template <bool First, class D>
HWY_INLINE void two_rows_four_terms(D d, const float* x, std::int64_t n, const float* b, float* c0,
                                    float* c1, std::int64_t from, std::int64_t to) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto x00 = hn::Set(d, x[0]), x01 = hn::Set(d, x[1]);
  const auto x02 = hn::Set(d, x[2]), x03 = hn::Set(d, x[3]);
  const auto x10 = hn::Set(d, x[4]), x11 = hn::Set(d, x[5]);
  const auto x12 = hn::Set(d, x[6]), x13 = hn::Set(d, x[7]);
  for (std::int64_t j = from; j + lanes <= to; j += lanes) {
    auto s0 = First ? hn::Zero(d) : hn::LoadU(d, c0 + j);
    auto s1 = First ? hn::Zero(d) : hn::LoadU(d, c1 + j);
    const auto y0 = hn::LoadU(d, b + j), y1 = hn::LoadU(d, b + n + j);
    s0 = hn::MulAdd(x00, y0, s0);
    s1 = hn::MulAdd(x10, y0, s1);
    s0 = hn::MulAdd(x01, y1, s0);
    s1 = hn::MulAdd(x11, y1, s1);
    const auto y2 = hn::LoadU(d, b + 2 * n + j), y3 = hn::LoadU(d, b + 3 * n + j);
    s0 = hn::MulAdd(x02, y2, s0);
    s1 = hn::MulAdd(x12, y2, s1);
    s0 = hn::MulAdd(x03, y3, s0);
    s1 = hn::MulAdd(x13, y3, s1);
    hn::StoreU(s0, d, c0 + j);
    hn::StoreU(s1, d, c1 + j);
  }
}

template <bool First>
HWY_INLINE void two_rows_pass(const float* x, std::int64_t n, const float* b, float* c0,
                              float* c1) {
  const Lanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = n / lanes * lanes, fours = whole + (n - whole) / 4 * 4;
  two_rows_four_terms<First>(d, x, n, b, c0, c1, 0, whole);
  two_rows_four_terms<First>(FourLanes(), x, n, b, c0, c1, whole, fours);
  two_rows_four_terms<First>(OneLane(), x, n, b, c0, c1, fours, n);
}

/// One row of C (+)= one term.
HWY_INLINE void one_row_one_term(bool first, float x, std::int64_t n, const float* b, float* c) {
  const Lanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto s = first ? hn::Zero(d) : hn::LoadU(d, c + j);
    hn::StoreU(hn::MulAdd(hn::Set(d, x), hn::LoadU(d, b + j), s), d, c + j);
  }
  for (; j < n; ++j) c[j] = (first ? 0.0F : c[j]) + x * b[j];
}

void few_terms(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  const std::int64_t n = sizes.n;
  if (sizes.k == 0) std::fill(c, c + sizes.m * n, 0.0F);
  for (std::int64_t i = 0; i < sizes.m; i += 2) {
    const bool pair = i + 1 < sizes.m;
    float* c0 = c + i * n;
    std::int64_t k = 0;
    for (; pair && k + 4 <= sizes.k; k += 4) {
      float x[8];
      for (std::int64_t j = 0; j < 8; ++j) x[j] = element(a, i + j / 4, k + j % 4);
      if (k == 0) {
        two_rows_pass<true>(x, n, b, c0, c0 + n);
      } else {
        two_rows_pass<false>(x, n, b + k * n, c0, c0 + n);
      }
    }
    for (; k < sizes.k; ++k) {
      one_row_one_term(k == 0, element(a, i, k), n, b + k * n, c0);
      if (pair) one_row_one_term(k == 0, element(a, i + 1, k), n, b + k * n, c0 + n);
    }
  }
}

const GemmLoops* make_gemm_loops() {
  static constexpr GemmLoops loops = {few_rows, few_rows_transposed, few_terms};
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_gemm_loops);

const GemmLoops& gemm_loops() {
  static const GemmLoops* const loops = best_form(make_gemm_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
