#pragma once
// What every op means, in double precision and plain loops. The second opinion: it shares nothing
// with the kernels and is meant to be checked by eye.

#include <memory>
#include <vector>

#include "base/tensor_type.h"
#include "ops/op.h"

namespace shard {

/// A whole array in double precision, row-major; of complex numbers both parts, side by side.
struct DoubleArray {
  TensorType type;
  std::vector<double> values;
};

struct ReferenceCall {
  const Attributes& attributes;
  const std::vector<std::shared_ptr<const DoubleArray>>& operands;
  std::vector<DoubleArray>& results;  ///< types set, values zero

  const std::vector<double>& values(std::size_t operand) const { return operands[operand]->values; }
  const Shape& shape(std::size_t operand) const { return operands[operand]->type.shape; }
};

/// Evaluates one node; not for `repeat`, which the reference walks. Integers wrap to their width.
void evaluate(Op op, const ReferenceCall& call);

}  // namespace shard
