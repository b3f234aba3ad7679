#pragma once
// What shape rules share: how results are handed over and how mistakes are worded.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace shard {

inline ShapeResult one_result(TensorType type) {
  std::vector<TensorType> types;
  types.push_back(std::move(type));
  return types;
}

inline std::string dtype_word(DType dtype) { return std::string(info(dtype).name); }

/// Empty when `dims`, with those of `before`, are distinct positions of a tensor of `rank`; else
/// what is wrong.
std::string position_mistake(const std::vector<std::int64_t>& dims, int rank,
                             const std::vector<std::int64_t>& before = {});

/// Empty unless one of the operands is complex: such numbers have no order.
std::string complex_mistake(std::span<const TensorType> operands);

/// Empty when the list has an entry for each of `rank` dims.
std::string length_mistake(const std::vector<std::int64_t>& list, int rank, const char* what);

/// Empty for scalars of an integer dtype.
std::string start_mistake(std::span<const TensorType> starts, int rank);

}  // namespace shard
