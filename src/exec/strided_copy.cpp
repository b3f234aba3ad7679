#include "exec/strided_copy.h"

#include <cstring>

namespace shard {
namespace {

/// Dims of size 1 are dropped; a dim that continues the one inside it is joined with it.
std::vector<CopyDim> joined_dims(const std::vector<CopyDim>& dims) {
  std::vector<CopyDim> joined;
  for (const CopyDim& dim : dims) {
    if (dim.size == 1) continue;
    if (!joined.empty() && joined.back().in_stride == dim.size * dim.in_stride &&
        joined.back().out_stride == dim.size * dim.out_stride) {
      joined.back() = {joined.back().size * dim.size, dim.in_stride, dim.out_stride};
    } else {
      joined.push_back(dim);
    }
  }
  return joined;
}

template <class T>
void copy_row(const CopyDim& row, const std::byte* from, std::byte* to) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < row.size; ++i) out[i * row.out_stride] = in[i * row.in_stride];
}

}  // namespace

StridedCopy::StridedCopy(const std::vector<CopyDim>& dims, std::size_t element_bytes)
    : dims_(joined_dims(dims)), row_{1, 1, 1}, element_bytes_(element_bytes) {
  for (const CopyDim& dim : dims) is_empty_ |= dim.size == 0;
  if (dims_.empty()) return;
  row_ = dims_.back();
  dims_.pop_back();
}

void StridedCopy::run_row(const std::byte* from, std::byte* to) const {
  if (row_.in_stride == 1 && row_.out_stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(row_.size) * element_bytes_);
  } else if (element_bytes_ == 4) {
    copy_row<std::uint32_t>(row_, from, to);
  } else if (element_bytes_ == 2) {
    copy_row<std::uint16_t>(row_, from, to);
  } else if (element_bytes_ == 8) {
    copy_row<std::uint64_t>(row_, from, to);
  } else {
    copy_row<std::uint8_t>(row_, from, to);
  }
}

void StridedCopy::run(const std::byte* from, std::byte* to) const {
  if (is_empty_) return;
  const auto bytes = static_cast<std::int64_t>(element_bytes_);
  std::vector<std::int64_t> index(dims_.size(), 0);
  while (true) {
    run_row(from, to);
    std::size_t d = dims_.size();
    while (d > 0) {
      const CopyDim& dim = dims_[--d];
      from += dim.in_stride * bytes;
      to += dim.out_stride * bytes;
      if (++index[d] < dim.size) break;
      from -= dim.size * dim.in_stride * bytes;
      to -= dim.size * dim.out_stride * bytes;
      index[d] = 0;
      if (d == 0) return;
    }
    if (dims_.empty()) return;
  }
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace shard
