#pragma once
// Products of any batch, free and contracted dims, brought to a matrix product per batch element.

#include <cstdint>
#include <functional>
#include <optional>

#include "exec/blas.h"
#include "exec/kernel.h"
#include "exec/simd.h"

namespace shard {

/// True when this `dot` is a float product that is neither few-row nor few-term: one that
/// `preferred_blas` computes where there is one, `blocked_gemm` elsewhere.
bool needs_many_rows(const KernelSite& site);

/// A float32 product of few terms, such as a parameter's gradient from few examples, some rows at a
/// time.
struct ProductByRows {
  std::int64_t rows = 0, columns = 0;
  std::int64_t step = 1;
  /// Rows `first` to `last` of the result, to `to`; the bits are those of the whole product where
  /// `first` is a multiple of `step` and `last` is one or `rows`. `next`: bytes to the operands of
  /// the product that is made next, 0 for none.
  std::function<void(const float* lhs, const float* rhs, std::ptrdiff_t next, std::int64_t first,
                     std::int64_t last, float* to)>
      run;
};

/// Nothing of other products.
std::optional<ProductByRows> product_by_rows(const KernelSite& site);

/// C[m,n] = A B, for parts of larger products; C is row-major. The same sizes and strides give the
/// same bits.
void multiply_floats(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c,
                     Scratch& scratch);

}  // namespace shard
