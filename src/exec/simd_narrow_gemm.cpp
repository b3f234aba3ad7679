#include "exec/simd.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_narrow_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <hwy/cache_control.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using NarrowLanes = hn::ScalableTag<float>;
using NarrowEight = hn::CappedTag<float, 8>;
using NarrowFour = hn::CappedTag<float, 4>;  // one lane where there are no vectors
using NarrowOne = hn::CappedTag<float, 1>;

// Few columns: the sums of a block of C stay in registers while A and B pass by. There are eight
// chains of additions, as many as a processor has in flight; where rows and columns give fewer, the
// terms are divided among chains that are joined at the end.

/// Where a block of C starts: A's row, B's column, C itself.
struct NarrowBlock {
  std::int64_t n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t row_stride = 0, term_stride = 1;
  const float* b = nullptr;
  float* c = nullptr;
  std::int64_t ahead = 0;
};

/// Asks for the lines of two vectors.
template <class D>
HWY_INLINE void fetch_two_vectors(D d, const float* from) {
  constexpr std::size_t line = 16;
  for (std::size_t i = 0; i < 2 * hn::Lanes(d); i += line) hwy::Prefetch(from + i);
}

/// Four rows of C and two vectors of columns.
template <class D>
HWY_INLINE void four_rows_two_vectors(D d, const NarrowBlock& block) {
  const std::size_t lanes = hn::Lanes(d);
  const float *a0 = block.a, *a1 = a0 + block.row_stride, *a2 = a1 + block.row_stride;
  const float *a3 = a2 + block.row_stride, *b = block.b;
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  for (std::int64_t k = 0, at = 0; k < block.k; ++k, at += block.term_stride, b += block.n) {
    const auto y0 = hn::LoadU(d, b), y1 = hn::LoadU(d, b + lanes);
    const auto x0 = hn::Set(d, a0[at]), x1 = hn::Set(d, a1[at]);
    const auto x2 = hn::Set(d, a2[at]), x3 = hn::Set(d, a3[at]);
    s00 = hn::MulAdd(x0, y0, s00);
    s01 = hn::MulAdd(x0, y1, s01);
    s10 = hn::MulAdd(x1, y0, s10);
    s11 = hn::MulAdd(x1, y1, s11);
    s20 = hn::MulAdd(x2, y0, s20);
    s21 = hn::MulAdd(x2, y1, s21);
    s30 = hn::MulAdd(x3, y0, s30);
    s31 = hn::MulAdd(x3, y1, s31);
  }
  float* c = block.c;
  hn::StoreU(s00, d, c);
  hn::StoreU(s01, d, c + lanes);
  hn::StoreU(s10, d, c + block.n);
  hn::StoreU(s11, d, c + block.n + lanes);
  hn::StoreU(s20, d, c + 2 * block.n);
  hn::StoreU(s21, d, c + 2 * block.n + lanes);
  hn::StoreU(s30, d, c + 3 * block.n);
  hn::StoreU(s31, d, c + 3 * block.n + lanes);
}

/// Four rows of C and one vector of columns.
template <class D>
HWY_INLINE void four_rows_one_vector(D d, const NarrowBlock& block) {
  const float *a0 = block.a, *a1 = a0 + block.row_stride, *a2 = a1 + block.row_stride;
  const float *a3 = a2 + block.row_stride, *b = block.b;
  const std::int64_t n = block.n, next = block.term_stride;
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  std::int64_t k = 0, at = 0;
  for (; k + 2 <= block.k; k += 2, at += 2 * next, b += 2 * n) {
    const auto y0 = hn::LoadU(d, b), y1 = hn::LoadU(d, b + n);
    s00 = hn::MulAdd(hn::Set(d, a0[at]), y0, s00);
    s10 = hn::MulAdd(hn::Set(d, a1[at]), y0, s10);
    s20 = hn::MulAdd(hn::Set(d, a2[at]), y0, s20);
    s30 = hn::MulAdd(hn::Set(d, a3[at]), y0, s30);
    s01 = hn::MulAdd(hn::Set(d, a0[at + next]), y1, s01);
    s11 = hn::MulAdd(hn::Set(d, a1[at + next]), y1, s11);
    s21 = hn::MulAdd(hn::Set(d, a2[at + next]), y1, s21);
    s31 = hn::MulAdd(hn::Set(d, a3[at + next]), y1, s31);
  }
  if (k < block.k) {
    const auto y = hn::LoadU(d, b);
    s00 = hn::MulAdd(hn::Set(d, a0[at]), y, s00);
    s10 = hn::MulAdd(hn::Set(d, a1[at]), y, s10);
    s20 = hn::MulAdd(hn::Set(d, a2[at]), y, s20);
    s30 = hn::MulAdd(hn::Set(d, a3[at]), y, s30);
  }
  hn::StoreU(hn::Add(s00, s01), d, block.c);
  hn::StoreU(hn::Add(s10, s11), d, block.c + n);
  hn::StoreU(hn::Add(s20, s21), d, block.c + 2 * n);
  hn::StoreU(hn::Add(s30, s31), d, block.c + 3 * n);
}

/// One row of C and two vectors of columns, or one.
template <bool HasTwo, class D>
HWY_INLINE void one_row(D d, const NarrowBlock& block) {
  const std::size_t second = HasTwo ? hn::Lanes(d) : 0;
  const float *a = block.a, *b = block.b;
  const std::int64_t n = block.n, next = block.term_stride;
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s02 = hn::Zero(d), s03 = hn::Zero(d);
  auto s10 = hn::Zero(d), s11 = hn::Zero(d), s12 = hn::Zero(d), s13 = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + 4 <= block.k; k += 4, a += 4 * next, b += 4 * n) {
    const auto x0 = hn::Set(d, a[0]), x1 = hn::Set(d, a[next]);
    const auto x2 = hn::Set(d, a[2 * next]), x3 = hn::Set(d, a[3 * next]);
    if constexpr (HasTwo) {
      const float* const later = b + block.ahead;
      fetch_two_vectors(d, later);
      fetch_two_vectors(d, later + n);
      fetch_two_vectors(d, later + 2 * n);
      fetch_two_vectors(d, later + 3 * n);
    }
    s00 = hn::MulAdd(x0, hn::LoadU(d, b), s00);
    s01 = hn::MulAdd(x1, hn::LoadU(d, b + n), s01);
    s02 = hn::MulAdd(x2, hn::LoadU(d, b + 2 * n), s02);
    s03 = hn::MulAdd(x3, hn::LoadU(d, b + 3 * n), s03);
    if constexpr (HasTwo) {
      s10 = hn::MulAdd(x0, hn::LoadU(d, b + second), s10);
      s11 = hn::MulAdd(x1, hn::LoadU(d, b + n + second), s11);
      s12 = hn::MulAdd(x2, hn::LoadU(d, b + 2 * n + second), s12);
      s13 = hn::MulAdd(x3, hn::LoadU(d, b + 3 * n + second), s13);
    }
  }
  for (; k < block.k; ++k, a += next, b += n) {
    const auto x = hn::Set(d, a[0]);
    s00 = hn::MulAdd(x, hn::LoadU(d, b), s00);
    if constexpr (HasTwo) s10 = hn::MulAdd(x, hn::LoadU(d, b + second), s10);
  }
  hn::StoreU(hn::Add(hn::Add(s00, s01), hn::Add(s02, s03)), d, block.c);
  if constexpr (HasTwo) {
    hn::StoreU(hn::Add(hn::Add(s10, s11), hn::Add(s12, s13)), d, block.c + second);
  }
}

/// All rows of C for one vector of columns from `j` on, or two.
template <bool HasTwo, class D>
HWY_INLINE void all_rows(D d, const GemmSizes& sizes, const MatrixView& a, const float* b, float* c,
                         std::int64_t j) {
  NarrowBlock block{sizes.n,         sizes.k, a.data, a.row_stride,
                    a.column_stride, b + j,   c + j,  sizes.ahead};
  std::int64_t i = 0;
  for (; i + 4 <= sizes.m; i += 4) {
    if constexpr (HasTwo) {
      four_rows_two_vectors(d, block);
    } else {
      four_rows_one_vector(d, block);
    }
    block.a += 4 * a.row_stride;
    block.c += 4 * sizes.n;
  }
  for (; i < sizes.m; ++i, block.a += a.row_stride, block.c += sizes.n) one_row<HasTwo>(d, block);
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE bool has_four_columns_by_block(const GemmSizes&, const MatrixView&) { return false; }
HWY_INLINE void four_columns_by_block(const GemmSizes&, const MatrixView&, const float*, float*) {}

#else

template <class D, class V>
HWY_INLINE auto sum_of_blocks(D, V v) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

// Four columns: a vector holds them of two rows or terms, or of four, one in each of its blocks.

using NarrowBlocks = hn::CappedTag<float, 16>;

/// Where in four numbers, which all blocks hold, the one of each block is: block i takes number
/// `first` + i, in all lanes.
HWY_INLINE auto lanes_of_blocks(NarrowBlocks d, std::size_t first) {
  const hn::Repartition<std::uint8_t, NarrowBlocks> bytes;
  HWY_ALIGN std::uint8_t from[64];
  for (std::size_t i = 0; i < hn::Lanes(bytes); ++i) {
    from[i] = static_cast<std::uint8_t>(4 * ((first + i / 16) % 4) + i % 4);
  }
  return hn::BitCast(d, hn::Load(bytes, from));
}

template <class V>
HWY_INLINE V spread_to_blocks(NarrowBlocks d, V numbers, V lanes) {
  const hn::Repartition<std::uint8_t, NarrowBlocks> bytes;
  return hn::BitCast(d,
                     hn::TableLookupBytes(hn::BitCast(bytes, numbers), hn::BitCast(bytes, lanes)));
}

/// Two vectors of blocks: with two blocks each they share four numbers.
constexpr std::int64_t terms_of_two_vectors = hn::MaxLanes(NarrowBlocks()) / 2;

/// Four rows of A whose terms lie behind each other.
HWY_INLINE void four_rows_by_term_blocks(const NarrowBlock& block) {
  constexpr std::int64_t terms = terms_of_two_vectors, line = 16;
  const NarrowBlocks d;
  const NarrowFour four;
  const auto first = lanes_of_blocks(d, 0), second = lanes_of_blocks(d, terms / 2);
  const std::int64_t vector = static_cast<std::int64_t>(hn::Lanes(d)), next = terms - 4;
  const float *a0 = block.a, *a1 = a0 + block.row_stride, *a2 = a1 + block.row_stride;
  const float *a3 = a2 + block.row_stride, *b = block.b;
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + terms <= block.k; k += terms, b += 2 * vector) {
    if (k % line == 0) {
      hwy::Prefetch(a0 + block.ahead + k);
      hwy::Prefetch(a1 + block.ahead + k);
      hwy::Prefetch(a2 + block.ahead + k);
      hwy::Prefetch(a3 + block.ahead + k);
    }
    fetch_two_vectors(d, b + block.ahead);
    const auto y0 = hn::LoadU(d, b), y1 = hn::LoadU(d, b + vector);
    const auto add = [&](auto& s0, auto& s1, const float* a) HWY_ATTR {
      s0 = hn::MulAdd(spread_to_blocks(d, hn::LoadDup128(d, a + k), first), y0, s0);
      s1 = hn::MulAdd(spread_to_blocks(d, hn::LoadDup128(d, a + k + next), second), y1, s1);
    };
    add(s00, s01, a0);
    add(s10, s11, a1);
    add(s20, s21, a2);
    add(s30, s31, a3);
  }
  auto s0 = sum_of_blocks(d, hn::Add(s00, s01)), s1 = sum_of_blocks(d, hn::Add(s10, s11));
  auto s2 = sum_of_blocks(d, hn::Add(s20, s21)), s3 = sum_of_blocks(d, hn::Add(s30, s31));
  for (; k < block.k; ++k, b += 4) {
    const auto y = hn::LoadU(four, b);
    s0 = hn::MulAdd(hn::Set(four, a0[k]), y, s0);
    s1 = hn::MulAdd(hn::Set(four, a1[k]), y, s1);
    s2 = hn::MulAdd(hn::Set(four, a2[k]), y, s2);
    s3 = hn::MulAdd(hn::Set(four, a3[k]), y, s3);
  }
  hn::StoreU(s0, four, block.c);
  hn::StoreU(s1, four, block.c + 4);
  hn::StoreU(s2, four, block.c + 8);
  hn::StoreU(s3, four, block.c + 12);
}

/// Four rows of A whose elements of each term lie behind each other: an outer product per term.
HWY_INLINE void four_rows_by_row_blocks(const NarrowBlock& block) {
  const NarrowBlocks d;
  const std::int64_t vector = static_cast<std::int64_t>(hn::Lanes(d));
  const auto first = lanes_of_blocks(d, 0), second = lanes_of_blocks(d, 2);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  for (std::int64_t k = 0; k < block.k; ++k) {
    const auto y = hn::LoadDup128(d, block.b + 4 * k);
    const auto x = hn::LoadDup128(d, block.a + k * block.term_stride);
    s0 = hn::MulAdd(spread_to_blocks(d, x, first), y, s0);
    if (vector == 8) s1 = hn::MulAdd(spread_to_blocks(d, x, second), y, s1);
  }
  hn::StoreU(s0, d, block.c);
  if (vector == 8) hn::StoreU(s1, d, block.c + vector);
}

HWY_INLINE bool has_four_columns_by_block(const GemmSizes& sizes, const MatrixView& a) {
  return sizes.n == 4 && hn::Lanes(NarrowBlocks()) >= 8 &&
         (a.column_stride == 1 || a.row_stride == 1);
}

HWY_INLINE void four_columns_by_block(const GemmSizes& sizes, const MatrixView& a, const float* b,
                                      float* c) {
  constexpr std::int64_t line = 16;
  NarrowBlock block{4, sizes.k, a.data, a.row_stride, a.column_stride, b, c, sizes.ahead};
  std::int64_t i = 0;
  for (; i + 4 <= sizes.m; i += 4, block.a += 4 * a.row_stride, block.c += 16) {
    if (a.column_stride == 1) {
      four_rows_by_term_blocks(block);
      continue;
    }
    for (std::int64_t k = 0; i % line == 0 && k < sizes.k; ++k) {
      hwy::Prefetch(block.a + k * a.column_stride + sizes.ahead);
    }
    four_rows_by_row_blocks(block);
  }
  for (; i < sizes.m; ++i, block.a += a.row_stride, block.c += 4) {
    one_row<false>(NarrowFour(), block);
  }
}

#endif

void few_columns(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  if (has_four_columns_by_block(sizes, a)) return four_columns_by_block(sizes, a, b, c);
  const NarrowLanes d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t eight = static_cast<std::int64_t>(hn::Lanes(NarrowEight()));
  const std::int64_t four = static_cast<std::int64_t>(hn::Lanes(NarrowFour()));
  const std::int64_t n = sizes.n;
  std::int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) all_rows<true>(d, sizes, a, b, c, j);
  for (; j + lanes <= n; j += lanes) all_rows<false>(d, sizes, a, b, c, j);
  for (; j + eight <= n; j += eight) all_rows<false>(NarrowEight(), sizes, a, b, c, j);
  for (; j + four <= n; j += four) all_rows<false>(NarrowFour(), sizes, a, b, c, j);
  for (; j < n; ++j) all_rows<false>(NarrowOne(), sizes, a, b, c, j);
}

/// Elements of B between what is used and what is asked for, unless a product follows.
constexpr std::int64_t narrow_fetched_ahead = 1024;

// Few terms, B transposed: the rows of B are so short that a dot product of each would be more
// adding up than multiplying. Several rows of B make one vector of C.

HWY_INLINE void plain_dots(const GemmSizes& sizes, const MatrixView& a, const float* b, float* c,
                           std::int64_t from) {
  for (std::int64_t i = 0; i < sizes.m; ++i) {
    const float* x = a.data + i * a.row_stride;
    for (std::int64_t j = from; j < sizes.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < sizes.k; ++k) sum += x[k] * b[j * sizes.k + k];
      c[i * sizes.n + j] = sum;
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void few_terms_transposed(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  plain_dots(sizes, a, b, c, 0);
}

#else

/// The sums of four vectors, as four lanes.
template <class D, class V>
HWY_INLINE auto four_sums(D d, V v0, V v1, V v2, V v3) {
  const hn::Repartition<double, D> pairs;
  const auto v01 = hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
  const auto v23 = hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
  const auto low = hn::BitCast(pairs, v01), high = hn::BitCast(pairs, v23);
  const auto sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, low, high)),
                            hn::BitCast(d, hn::InterleaveUpper(pairs, low, high)));
  return sum_of_blocks(d, sums);
}

/// Four elements of a row of C at a time.
template <class D>
HWY_INLINE void dots_by_four(D d, const GemmSizes& sizes, const MatrixView& a, const float* b,
                             float* c) {
  const NarrowFour four;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d)), k = sizes.k;
  const std::int64_t ahead = sizes.ahead != 0 ? sizes.ahead : narrow_fetched_ahead;
  std::int64_t j = 0;
  for (; j + 4 <= sizes.n; j += 4) {
    const float *b0 = b + j * k, *b1 = b0 + k, *b2 = b1 + k, *b3 = b2 + k;
    for (std::int64_t at = 0; at < 4 * k; at += 16) hwy::Prefetch(b0 + ahead + at);
    for (std::int64_t i = 0; i < sizes.m; ++i) {
      const float* x = a.data + i * a.row_stride;
      auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
      std::int64_t t = 0;
      for (; t + lanes <= k; t += lanes) {
        const auto y = hn::LoadU(d, x + t);
        s0 = hn::MulAdd(y, hn::LoadU(d, b0 + t), s0);
        s1 = hn::MulAdd(y, hn::LoadU(d, b1 + t), s1);
        s2 = hn::MulAdd(y, hn::LoadU(d, b2 + t), s2);
        s3 = hn::MulAdd(y, hn::LoadU(d, b3 + t), s3);
      }
      float* to = c + i * sizes.n + j;
      hn::StoreU(four_sums(d, s0, s1, s2, s3), four, to);
      for (; t < k; ++t) {
        to[0] += x[t] * b0[t];
        to[1] += x[t] * b1[t];
        to[2] += x[t] * b2[t];
        to[3] += x[t] * b3[t];
      }
    }
  }
  plain_dots(sizes, a, b, c, j);
}

/// Four terms: the columns of B are taken apart while they are loaded.
template <class D>
HWY_INLINE std::int64_t four_terms(D d, const GemmSizes& sizes, const MatrixView& a, const float* b,
                                   float* c, std::int64_t j) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto y0 = hn::Zero(d), y1 = y0, y2 = y0, y3 = y0;
  for (; j + lanes <= sizes.n; j += lanes) {
    fetch_two_vectors(d, b + 4 * j + sizes.ahead);
    fetch_two_vectors(d, b + 4 * j + 2 * lanes + sizes.ahead);
    hn::LoadInterleaved4(d, b + 4 * j, y0, y1, y2, y3);
    for (std::int64_t i = 0; i < sizes.m; ++i) {
      const float* x = a.data + i * a.row_stride;
      auto s = hn::Mul(hn::Set(d, x[0]), y0);
      s = hn::MulAdd(hn::Set(d, x[1]), y1, s);
      s = hn::MulAdd(hn::Set(d, x[2]), y2, s);
      s = hn::MulAdd(hn::Set(d, x[3]), y3, s);
      hn::StoreU(s, d, c + i * sizes.n + j);
    }
  }
  return j;
}

/// Eight terms: likewise, in two steps.
template <class D>
HWY_INLINE std::int64_t eight_terms(D d, const GemmSizes& sizes, const MatrixView& a,
                                    const float* b, float* c, std::int64_t j) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto p0 = hn::Zero(d), p1 = p0, p2 = p0, p3 = p0, q0 = p0, q1 = p0, q2 = p0, q3 = p0;
  for (; j + lanes <= sizes.n; j += lanes) {
    hn::LoadInterleaved4(d, b + 8 * j, p0, p1, p2, p3);
    hn::LoadInterleaved4(d, b + 8 * j + 4 * lanes, q0, q1, q2, q3);
    const auto y0 = hn::ConcatEven(d, q0, p0), y4 = hn::ConcatOdd(d, q0, p0);
    const auto y1 = hn::ConcatEven(d, q1, p1), y5 = hn::ConcatOdd(d, q1, p1);
    const auto y2 = hn::ConcatEven(d, q2, p2), y6 = hn::ConcatOdd(d, q2, p2);
    const auto y3 = hn::ConcatEven(d, q3, p3), y7 = hn::ConcatOdd(d, q3, p3);
    for (std::int64_t i = 0; i < sizes.m; ++i) {
      const float* x = a.data + i * a.row_stride;
      auto s = hn::Mul(hn::Set(d, x[0]), y0), u = hn::Mul(hn::Set(d, x[4]), y4);
      s = hn::MulAdd(hn::Set(d, x[1]), y1, s);
      u = hn::MulAdd(hn::Set(d, x[5]), y5, u);
      s = hn::MulAdd(hn::Set(d, x[2]), y2, s);
      u = hn::MulAdd(hn::Set(d, x[6]), y6, u);
      s = hn::MulAdd(hn::Set(d, x[3]), y3, s);
      u = hn::MulAdd(hn::Set(d, x[7]), y7, u);
      hn::StoreU(hn::Add(s, u), d, c + i * sizes.n + j);
    }
  }
  return j;
}

void few_terms_transposed(const GemmSizes& sizes, MatrixView a, const float* b, float* c) {
  const NarrowLanes d;
  const NarrowEight eight;
  const NarrowFour four;
  const auto fits = [&](auto tag) { return static_cast<std::int64_t>(hn::Lanes(tag)) <= sizes.k; };
  if (sizes.k == 4) {
    return plain_dots(sizes, a, b, c,
                      four_terms(four, sizes, a, b, c, four_terms(d, sizes, a, b, c, 0)));
  }
  if (sizes.k == 8) {
    return plain_dots(sizes, a, b, c,
                      eight_terms(four, sizes, a, b, c, eight_terms(d, sizes, a, b, c, 0)));
  }
  if (fits(d)) return dots_by_four(d, sizes, a, b, c);
  if (fits(eight)) return dots_by_four(eight, sizes, a, b, c);
  if (fits(four)) return dots_by_four(four, sizes, a, b, c);
  plain_dots(sizes, a, b, c, 0);
}

#endif

const NarrowGemmLoops* make_narrow_gemm_loops() {
  static constexpr NarrowGemmLoops loops = {few_columns, few_terms_transposed};
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_narrow_gemm_loops);

const NarrowGemmLoops& narrow_gemm_loops() {
  static const NarrowGemmLoops* const loops =
      best_form(make_narrow_gemm_loops_forms, instruction_sets())();
  return *loops;
}

}  // namespace shard
#endif
