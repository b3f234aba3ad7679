#include "exec/index_text.h"

namespace shard {

std::string index_text(std::int64_t index, const Shape& shape) {
  Shape coordinates(shape.size(), 0);
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    coordinates[dim] = index % shape[dim];
    index /= shape[dim];
  }
  return "[" + (shape.empty() ? "" : to_string(coordinates)) + "]";
}

}  // namespace shard
