#pragma once
// Index combinations of an array, one at a time: slow and plain, for the reference.

#include <cstdint>
#include <vector>

#include "base/tensor_type.h"

namespace shard::reference {

using Index = std::vector<std::int64_t>;

/// Row-major position.
inline std::size_t position(const Shape& shape, const Index& index) {
  std::int64_t position = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    position = position * shape[dim] + index[dim];
  }
  return static_cast<std::size_t>(position);
}

/// Calls `visit(index)` for every index of `shape`, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  const std::int64_t count = element_count(shape);
  Index index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(index);
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim]) break;
      index[dim] = 0;
    }
  }
}

}  // namespace shard::reference
