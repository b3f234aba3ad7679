#include "exec/row_product.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "exec/dot_kernel.h"
#include "exec/element.h"
#include "exec/row_tails.h"
#include "ops/dims.h"

namespace shard {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers dims_without(int rank, const Numbers& a, const Numbers& b) {
  Numbers rest;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (!contains(a, dim) && !contains(b, dim)) rest.push_back(dim);
  }
  return rest;
}

std::int64_t size_of_dims(const Shape& shape, int first, int last) {
  return element_count(std::span(shape).subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(last - first)));
}

/// One operand's dims by what the product does with them. The contracted ones of both operands are
/// paired in the order of the points' dims.
struct SideDims {
  Numbers batch, free, summed;
};

SideDims side_dims(const KernelSite& site, int side) {
  const bool is_left = side == 0;
  SideDims dims{site.attributes.integers(is_left ? "lhs_batch" : "rhs_batch"),
                {},
                site.attributes.integers(is_left ? "lhs_contract" : "rhs_contract")};
  dims.free =
      dims_without(site.operands[static_cast<std::size_t>(side)].rank(), dims.batch, dims.summed);
  return dims;
}

}  // namespace

RowProduct::RowProduct(const KernelSite& site, const LoopProduct& product)
    : kind_(product.kind),
      points_operand_(product.points_operand),
      dtype_(site.operands[0].dtype),
      rows_(size_of_dims(product.shape, product.group_dims, product.row_dims)),
      columns_(
          size_of_dims(product.shape, product.row_dims, static_cast<int>(product.shape.size()))) {
  const auto gather = [&](int side, bool is_summed_by_item) {
    const SideDims dims = side_dims(site, side);
    return RowGather(site.operands[static_cast<std::size_t>(side)], dims.batch,
                     is_summed_by_item ? dims.summed : dims.free,
                     is_summed_by_item ? dims.free : dims.summed);
  };
  if (kind_ == LoopProductKind::points) {
    row_operand_ = 0;
    column_operand_ = 1;
    by_row_ = gather(0, false);
    by_column_ = gather(1, false);
    numbers_ = by_row_->numbers();
  } else if (kind_ == LoopProductKind::row_sums) {
    column_operand_ = 1 - points_operand_;
    by_column_ = gather(column_operand_, true);
    numbers_ = by_column_->numbers();
  } else {
    row_operand_ = 1 - points_operand_;
    by_row_ = gather(row_operand_, true);
    numbers_ = by_row_->numbers();
  }
}

RowProduct::State RowProduct::prepare(Scratch& scratch) const {
  State state;
  const auto count = static_cast<std::size_t>(columns_ * numbers_);
  if (by_column_) state.columns = scratch.take_array<float>(count);
  if (kind_ == LoopProductKind::rows_summed) state.sums = scratch.take_array<float>(count);
  return state;
}

void RowProduct::begin(std::int64_t group, const std::byte* const* operands, State& state) const {
  if (by_row_) state.outside = operands[row_operand_];
  if (by_column_) {
    by_column_->run(operands[column_operand_], group, 0, columns_, state.columns);
    state.tame_from = columns_;
    while (state.tame_from > 0 &&
           is_tame(state.columns + (state.tame_from - 1) * numbers_, numbers_))
      --state.tame_from;
  }
  if (state.sums != nullptr) std::fill_n(state.sums, columns_ * numbers_, 0.0F);
}

bool RowProduct::run(const Rows& rows, const State& state, std::byte* points, std::byte* result,
                     Scratch& scratch) const {
  // The last point of a cut row is one of its tail.
  if (by_column_ && rows.width < columns_ && state.tame_from >= rows.width) return false;
  switch (kind_) {
    case LoopProductKind::points:
      return make_points(rows, state, points, scratch);
    case LoopProductKind::row_sums:
      return sum_points(rows, state, points, result, scratch);
    case LoopProductKind::rows_summed:
      return sum_rows(rows, state, points, scratch);
  }
  return false;
}

const float* RowProduct::numbers_of(const Rows& rows, const State& state, Scratch& scratch) const {
  SHARD_CHECK(by_row_, "asked of a product that reads an operand by rows");
  const std::int64_t size = rows.count * numbers_;
  float* const numbers = scratch.take_array<float>(static_cast<std::size_t>(size));
  by_row_->run(state.outside, rows.group, rows.first, rows.count, numbers);
  return rows.width == columns_ || is_tame(numbers, size) ? numbers : nullptr;
}

/// [count, numbers] times [width, numbers] transposed.
bool RowProduct::make_points(const Rows& rows, const State& state, std::byte* points,
                             Scratch& scratch) const {
  const float* const numbers = numbers_of(rows, state, scratch);
  if (numbers == nullptr) return false;
  const auto size = static_cast<std::size_t>(rows.count * rows.width);
  float* const out =
      dtype_ == DType::f32 ? reinterpret_cast<float*>(points) : scratch.take_array<float>(size);
  multiply_floats({rows.count, rows.width, numbers_}, {numbers, numbers_, 1},
                  {state.columns, 1, numbers_}, out, scratch);
  if (dtype_ != DType::f32) round_floats(out, dtype_, points, size);
  return true;
}

/// [count, width] times [width, numbers].
bool RowProduct::sum_points(const Rows& rows, const State& state, const std::byte* points,
                            std::byte* result, Scratch& scratch) const {
  const auto size = static_cast<std::size_t>(rows.count * numbers_);
  std::byte* const place = result + (rows.group * rows_ + rows.first) * numbers_ *
                                        static_cast<std::int64_t>(info(dtype_).bytes);
  float* const out =
      dtype_ == DType::f32 ? reinterpret_cast<float*>(place) : scratch.take_array<float>(size);
  const float* const weights = wide(points, rows.count * rows.width, scratch);
  multiply_floats({rows.count, numbers_, rows.width}, {weights, rows.width, 1},
                  {state.columns, numbers_, 1}, out, scratch);
  if (dtype_ != DType::f32) round_floats(out, dtype_, place, size);
  return true;
}

/// [count, width] transposed times [count, numbers], or the other way round where the points are
/// the second operand; added to what is there.
bool RowProduct::sum_rows(const Rows& rows, const State& state, const std::byte* points,
                          Scratch& scratch) const {
  const float* const numbers = numbers_of(rows, state, scratch);
  if (numbers == nullptr) return false;
  const float* const weights = wide(points, rows.count * rows.width, scratch);
  float* const part = scratch.take_array<float>(static_cast<std::size_t>(rows.width * numbers_));
  if (points_operand_ == 0) {
    multiply_floats({rows.width, numbers_, rows.count}, {weights, 1, rows.width},
                    {numbers, numbers_, 1}, part, scratch);
    for (std::int64_t i = 0; i < rows.width * numbers_; ++i) state.sums[i] += part[i];
    return true;
  }
  multiply_floats({numbers_, rows.width, rows.count}, {numbers, 1, numbers_},
                  {weights, rows.width, 1}, part, scratch);
  for (std::int64_t n = 0; n < numbers_; ++n) {
    float* const to = state.sums + n * columns_;
    for (std::int64_t i = 0; i < rows.width; ++i) to[i] += part[n * rows.width + i];
  }
  return true;
}

const float* RowProduct::wide(const std::byte* points, std::int64_t count, Scratch& scratch) const {
  if (dtype_ == DType::f32) return reinterpret_cast<const float*>(points);
  float* const to = scratch.take_array<float>(static_cast<std::size_t>(count));
  widen_floats(dtype_, points, to, static_cast<std::size_t>(count));
  return to;
}

void RowProduct::end(std::int64_t group, const State& state, std::byte* result) const {
  if (kind_ != LoopProductKind::rows_summed) return;
  const auto size = static_cast<std::size_t>(columns_ * numbers_);
  const auto width = static_cast<std::size_t>(info(dtype_).bytes);
  std::byte* const place = result + static_cast<std::size_t>(group) * size * width;
  if (dtype_ == DType::f32) {
    std::copy_n(state.sums, size, reinterpret_cast<float*>(place));
  } else {
    round_floats(state.sums, dtype_, place, size);
  }
}

std::variant<std::shared_ptr<const RowProduct>, std::string> make_row_product(
    const KernelSite& site, const LoopProduct& product) {
  if (!computes_in_f32(site.operands[0].dtype)) return describe(site);
  return std::make_shared<const RowProduct>(site, product);
}

}  // namespace shard
