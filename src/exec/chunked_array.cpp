#include "exec/chunked_array.h"

#include <cstring>

#include "exec/element.h"
#include "exec/reduce_streams.h"

namespace shard {

ChunkedArray::ChunkedArray(std::int64_t total, int chunks, std::int64_t block, std::int64_t step)
    : total_(total), chunks_(chunks), block_(block), step_(step) {
  parts_ = std::max<std::int64_t>(1, (begin(1) + step_ - 1) / step_);
}

ChunkedArray ChunkedArray::stretches(std::int64_t total, int chunks, std::int64_t step) {
  return {total, chunks, 0, step};
}

ChunkedArray ChunkedArray::only(std::int64_t total, int chunks, int which, std::int64_t step) {
  ChunkedArray array;
  array.total_ = total;
  array.chunks_ = chunks;
  array.only_ = which;
  array.step_ = step;
  array.parts_ = std::max<std::int64_t>(1, (total + step - 1) / step);
  return array;
}

ChunkedArray ChunkedArray::blocks(const TensorType& part, int dim, int chunks, std::int64_t step) {
  std::int64_t block = 1;
  for (std::size_t i = static_cast<std::size_t>(dim); i < part.shape.size(); ++i) {
    block *= part.shape[i];
  }
  return {element_count(part.shape) * chunks, chunks, block, step};
}

ChunkPart ChunkedArray::part(std::int64_t number) const {
  const int chunk = static_cast<int>(number / parts_);
  const std::int64_t begin = std::min(size(chunk), number % parts_ * step_);
  return {chunk, begin, std::min(step_, size(chunk) - begin), begin == 0};
}

AddingType::AddingType(DType stored, bool reduces)
    : stored_(stored),
      added_(reduces && adds_in_f32(stored) ? DType::f32 : stored),
      stored_width_(info(stored_).bytes),
      added_width_(info(added_).bytes) {}

void AddingType::widen(const std::byte* from, std::byte* to, std::int64_t count) const {
  if (added_ == stored_) {
    std::memcpy(to, from, static_cast<std::size_t>(count * stored_width_));
  } else {
    widen_floats(stored_, from, reinterpret_cast<float*>(to), static_cast<std::size_t>(count));
  }
}

void AddingType::narrow(const std::byte* from, std::byte* to, std::int64_t count) const {
  if (added_ == stored_) {
    std::memcpy(to, from, static_cast<std::size_t>(count * stored_width_));
  } else {
    round_floats(reinterpret_cast<const float*>(from), stored_, to,
                 static_cast<std::size_t>(count));
  }
}

}  // namespace shard
