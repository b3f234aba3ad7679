#pragma once
// Lists of dims, as attributes hold them.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shard {

inline bool contains(const std::vector<std::int64_t>& dims, std::int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

}  // namespace shard
