#pragma once
// Single ops on arrays of sizes that meshes divide, for comparing sharded with whole.

#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "ops/op.h"

namespace shard::test {

struct OpCase {
  Op op = Op::constant;
  std::vector<TensorType> operands;
  Attributes attributes;
  std::int64_t index_limit = 8;  ///< integer operands are drawn from -2 up to this
};

/// Every op of the table that is no layer's own, in the forms that tell it from others.
std::vector<OpCase> op_cases();

/// Values for an operand: reals from 0.1 to 0.9, integers from -2 up to `limit`, random bools.
HostTensor drawn_values(const TensorType& type, std::int64_t limit, std::uint64_t seed);

}  // namespace shard::test
