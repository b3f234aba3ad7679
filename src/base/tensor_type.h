#pragma once
// Element type plus shape: what an array is before anybody splits it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"

namespace shard {

/// Sizes of the dimensions, major first. Empty for a scalar.
using Shape = std::vector<std::int64_t>;

/// A size that is not known: dumps of shardings leave sizes out. Only models without a program have
/// such dims; they are split by name, and their bytes are unknown.
inline constexpr std::int64_t unknown_size = -1;
bool has_unknown_size(std::span<const std::int64_t> shape);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  int rank() const { return static_cast<int>(shape.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Product of non-negative numbers, or nothing when it does not fit in 63 bits.
std::optional<std::int64_t> checked_product(std::span<const std::int64_t> numbers);

/// Product of the sizes. Assumes it was checked to fit where the file was read.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// Elements times element size; 0 with a size that is unknown, which whoever prints it has to say
/// (see `has_unknown_size`). Assumes it was checked to fit where the file was read.
Bytes bytes_of(const TensorType& type);

/// `8,1024`; `()` for a scalar; `?` for a size that is unknown.
std::string to_string(const Shape& shape);

/// `f32[8,1024]`; `f32[]` for a scalar.
std::string to_string(const TensorType& type);

}  // namespace shard
