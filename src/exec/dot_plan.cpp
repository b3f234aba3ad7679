#include "exec/dot_plan.h"

#include <utility>

#include "base/tensor_type.h"
#include "exec/strided_copy.h"
#include "ops/dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

/// The dims of one side of a `dot`, by what is done with them; `batch` and `contract` in the order
/// of the other side's.
struct DotSide {
  TensorType type;
  Dims batch, contract, free;
};

DotSide side_of(const TensorType& type, const Dims& batch, const Dims& contract) {
  DotSide side{type, batch, contract, {}};
  for (std::int64_t dim = 0; dim < type.rank(); ++dim) {
    if (!contains(batch, dim) && !contains(contract, dim)) side.free.push_back(dim);
  }
  return side;
}

std::int64_t size_of(const TensorType& type, const Dims& dims) {
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) size *= type.shape[static_cast<std::size_t>(dim)];
  return size;
}

/// The stride of dims that lie behind each other; nothing where they do not. 0 for one element.
std::optional<std::int64_t> stride_of(const TensorType& type, const Dims& dims) {
  const std::vector<std::int64_t> strides = row_major_strides(type.shape);
  std::int64_t inner = 0, expected = 0;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(dims[i]);
    if (type.shape[dim] == 1) continue;
    if (inner == 0) {
      inner = strides[dim];
    } else if (strides[dim] != expected) {
      return std::nullopt;
    }
    expected = strides[dim] * type.shape[dim];
  }
  return inner;
}

void pack(DotOperand& operand, const TensorType& type, Dims order, const Dims& rows,
          const Dims& columns) {
  order.insert(order.end(), rows.begin(), rows.end());
  order.insert(order.end(), columns.begin(), columns.end());
  operand.packing.emplace(type.shape, order, static_cast<std::size_t>(info(type.dtype).bytes));
  operand.row_stride = operand.columns;
  operand.column_stride = 1;
}

DotOperand operand_of(const DotSide& side, const Dims& rows, const Dims& columns) {
  DotOperand operand;
  operand.rows = size_of(side.type, rows);
  operand.columns = size_of(side.type, columns);
  const std::optional<std::int64_t> row_stride = stride_of(side.type, rows);
  const std::optional<std::int64_t> column_stride = stride_of(side.type, columns);
  if (!row_stride || !column_stride) {
    pack(operand, side.type, side.batch, rows, columns);
    return operand;
  }
  operand.column_stride = *column_stride == 0 ? 1 : *column_stride;
  operand.row_stride = *row_stride;
  if (*row_stride == 0) operand.row_stride = operand.column_stride == 1 ? operand.columns : 1;
  return operand;
}

/// Of an operand whose batch elements lie behind each other where it is packed.
std::vector<std::int64_t> batch_strides(const DotSide& side, const DotOperand& operand) {
  const std::vector<std::int64_t> strides = row_major_strides(side.type.shape);
  std::vector<std::int64_t> found(side.batch.size());
  std::int64_t packed = operand.rows * operand.columns;
  for (std::size_t i = found.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(side.batch[i]);
    found[i] = operand.packing ? packed : strides[dim];
    packed *= side.type.shape[dim];
  }
  return found;
}

void plan_batch(DotPlan& plan, const DotSide& lhs, const DotSide& rhs) {
  const std::vector<std::int64_t> lhs_strides = batch_strides(lhs, plan.lhs);
  const std::vector<std::int64_t> rhs_strides = batch_strides(rhs, plan.rhs);
  plan.batch_dims.clear();
  for (std::size_t i = 0; i < lhs.batch.size(); ++i) {
    const std::int64_t size = lhs.type.shape[static_cast<std::size_t>(lhs.batch[i])];
    if (size == 1) continue;
    const DotBatchDim dim{size, lhs_strides[i], rhs_strides[i]};
    DotBatchDim* const outer = plan.batch_dims.empty() ? nullptr : &plan.batch_dims.back();
    if (outer != nullptr && outer->lhs_stride == size * dim.lhs_stride &&
        outer->rhs_stride == size * dim.rhs_stride) {
      *outer = {outer->size * size, dim.lhs_stride, dim.rhs_stride};
    } else {
      plan.batch_dims.push_back(dim);
    }
  }
}

DotSide lhs_of(const KernelSite& site) {
  return side_of(site.operands[0], site.attributes.integers("lhs_batch"),
                 site.attributes.integers("lhs_contract"));
}

DotSide rhs_of(const KernelSite& site) {
  return side_of(site.operands[1], site.attributes.integers("rhs_batch"),
                 site.attributes.integers("rhs_contract"));
}

}  // namespace

DotPlan plan_dot(const KernelSite& site) {
  const DotSide lhs = lhs_of(site), rhs = rhs_of(site);
  DotPlan plan;
  plan.dtype = lhs.type.dtype;
  plan.batch = size_of(lhs.type, lhs.batch);
  plan.lhs = operand_of(lhs, lhs.free, lhs.contract);
  plan.rhs = operand_of(rhs, rhs.contract, rhs.free);
  plan.sizes = {plan.lhs.rows, plan.rhs.columns, plan.lhs.columns};
  plan_batch(plan, lhs, rhs);
  return plan;
}

void pack_rhs(DotPlan& plan, const KernelSite& site) {
  const DotSide lhs = lhs_of(site), rhs = rhs_of(site);
  pack(plan.rhs, rhs.type, rhs.batch, rhs.contract, rhs.free);
  plan_batch(plan, lhs, rhs);
}

}  // namespace shard
