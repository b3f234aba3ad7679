#include "base/tensor_type.h"

#include <algorithm>

namespace shard {
namespace {

std::string comma_list(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    if (!text.empty()) text += ',';
    text += size == unknown_size ? "?" : std::to_string(size);
  }
  return text;
}

}  // namespace

bool has_unknown_size(std::span<const std::int64_t> shape) {
  return std::find(shape.begin(), shape.end(), unknown_size) != shape.end();
}

std::optional<std::int64_t> checked_product(std::span<const std::int64_t> numbers) {
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    if (__builtin_mul_overflow(product, number, &product)) return std::nullopt;
  }
  return product;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Bytes bytes_of(const TensorType& type) {
  if (has_unknown_size(type.shape)) return Bytes(0);
  return Bytes(element_count(type.shape) * info(type.dtype).bytes);
}

std::string to_string(const Shape& shape) { return shape.empty() ? "()" : comma_list(shape); }

std::string to_string(const TensorType& type) {
  return std::string(info(type.dtype).name) + '[' + comma_list(type.shape) + ']';
}

}  // namespace shard
