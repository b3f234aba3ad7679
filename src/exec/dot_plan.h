#pragma once
// A `dot` of any batch, free and contracted dims as a matrix product per batch element, with its
// operands read where they lie as far as strides can say.

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/kernel.h"
#include "exec/permute.h"
#include "exec/simd.h"

namespace shard {

/// One operand as [batch, rows, columns].
struct DotOperand {
  /// Makes it contiguous first: where the dims of its rows, or those of its columns, do not lie
  /// behind each other.
  std::optional<Permutation> packing;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_stride = 1;     ///< elements
  std::int64_t column_stride = 1;  ///< elements

  MatrixView view(const float* data) const { return {data, row_stride, column_stride}; }
  /// Each matrix contiguous, row by row.
  bool is_plain() const {
    return (column_stride == 1 || columns == 1) && (row_stride == columns || rows == 1);
  }
  /// Each matrix contiguous, column by column.
  bool is_turned() const {
    return (row_stride == 1 || rows == 1) && (column_stride == rows || columns == 1);
  }
};

/// One batch dim, or several that are walked alike; strides in elements.
struct DotBatchDim {
  std::int64_t size = 1;
  std::int64_t lhs_stride = 0;
  std::int64_t rhs_stride = 0;
};

struct DotPlan {
  DType dtype = DType::f32;
  std::int64_t batch = 1;
  std::vector<DotBatchDim> batch_dims;  ///< outermost first
  GemmSizes sizes;
  DotOperand lhs;  ///< [batch, m, k]
  DotOperand rhs;  ///< [batch, k, n]
};

DotPlan plan_dot(const KernelSite& site);

/// Has the operand packed: a contiguous matrix per batch element.
void pack_rhs(DotPlan& plan, const KernelSite& site);

/// Calls `visit(i, lhs, rhs)` for every batch element i: where its matrices start, in elements.
template <class Visit>
void for_each_batch(const DotPlan& plan, const Visit& visit) {
  std::vector<std::int64_t> index(plan.batch_dims.size(), 0);
  std::int64_t lhs = 0, rhs = 0;
  for (std::int64_t i = 0; i < plan.batch; ++i) {
    visit(i, lhs, rhs);
    for (std::size_t d = index.size(); d-- > 0;) {
      const DotBatchDim& dim = plan.batch_dims[d];
      lhs += dim.lhs_stride;
      rhs += dim.rhs_stride;
      if (++index[d] < dim.size) break;
      lhs -= dim.size * dim.lhs_stride;
      rhs -= dim.size * dim.rhs_stride;
      index[d] = 0;
    }
  }
}

}  // namespace shard
