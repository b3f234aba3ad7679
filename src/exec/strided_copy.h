#pragma once
// A box of elements copied between two arrays that lie differently in memory, planned once and run
// many times: slices, pads, concatenations, reversals.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor_type.h"

namespace shard {

/// One dim of the box; strides in elements, negative to walk backwards.
struct CopyDim {
  std::int64_t size = 1;
  std::int64_t in_stride = 0;
  std::int64_t out_stride = 0;
};

class StridedCopy {
 public:
  /// Outermost dim first. No dims: one element.
  StridedCopy(const std::vector<CopyDim>& dims, std::size_t element_bytes);

  /// From and to the element at position 0 of every dim.
  void run(const std::byte* from, std::byte* to) const;

 private:
  void run_row(const std::byte* from, std::byte* to) const;

  std::vector<CopyDim> dims_;  ///< without the innermost
  CopyDim row_;
  std::size_t element_bytes_;
  bool is_empty_ = false;
};

/// Strides of a contiguous array, in elements.
std::vector<std::int64_t> row_major_strides(const Shape& shape);

}  // namespace shard
