#include "spmd/loop_product.h"

#include <array>
#include <vector>

namespace shard {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Are `first`, `first + 1`...
bool count_from(std::int64_t first, const Numbers& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != first + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::optional<LoopProduct> of_points(const Attributes& attributes, const TensorType& rhs,
                                     const TensorType& result) {
  const auto groups = static_cast<int>(attributes.integers("lhs_batch").size());
  const auto summed = static_cast<int>(attributes.integers("rhs_contract").size());
  const int columns = rhs.rank() - groups - summed;
  const int rows = result.rank() - columns;
  if (columns < 1 || rows <= groups || summed < 1) return std::nullopt;
  return LoopProduct{LoopProductKind::points, -1, result.shape, rows, groups};
}

std::optional<LoopProduct> with_points(const Attributes& attributes, int side,
                                       const TensorType& points) {
  const Numbers& batch = attributes.integers(side == 0 ? "lhs_batch" : "rhs_batch");
  const Numbers& summed = attributes.integers(side == 0 ? "lhs_contract" : "rhs_contract");
  const auto groups = static_cast<std::int64_t>(batch.size());
  const auto free = points.rank() - groups - static_cast<std::int64_t>(summed.size());
  if (!count_from(0, batch) || summed.empty() || free < 1) return std::nullopt;
  LoopProduct found{LoopProductKind::rows_summed, side, points.shape, 0, static_cast<int>(groups)};
  if (count_from(groups, summed)) {
    found.row_dims = static_cast<int>(groups) + static_cast<int>(summed.size());
    return found;
  }
  // The rows come before what the other operand adds to the result.
  if (side != 0 || !count_from(groups + free, summed)) return std::nullopt;
  found.kind = LoopProductKind::row_sums;
  found.row_dims = static_cast<int>(groups + free);
  return found;
}

}  // namespace

std::optional<LoopProduct> product_in_loop(const Attributes& attributes,
                                           std::span<const TensorType> operands,
                                           const TensorType& result, std::span<const char> inside) {
  if (inside[0] == 0 && inside[1] == 0) return of_points(attributes, operands[1], result);
  if (inside[0] != 0 && inside[1] != 0) return std::nullopt;
  const int side = inside[0] != 0 ? 0 : 1;
  return with_points(attributes, side, operands[static_cast<std::size_t>(side)]);
}

}  // namespace shard
