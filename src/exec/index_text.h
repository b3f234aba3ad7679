#pragma once
// A place in an array as people write it.

#include <cstdint>
#include <string>

#include "base/tensor_type.h"

namespace shard {

/// `[2, 5]` for a row-major index.
std::string index_text(std::int64_t index, const Shape& shape);

}  // namespace shard
