#pragma once
// The small interface through which derivatives and layers add ops to a program that `model` owns.

#include <span>
#include <vector>

#include "base/ids.h"
#include "ops/op.h"

namespace shard {

class Builder {
 public:
  virtual ~Builder() = default;
  virtual const TensorType& type(ValueId value) const = 0;
  /// Adds a one-result op; types come from the op's shape rule, which must accept them.
  virtual ValueId emit(Op op, std::span<const ValueId> operands, Attributes attributes = {}) = 0;
  /// The same for an op of any number of results.
  virtual std::vector<ValueId> emit_all(Op op, std::span<const ValueId> operands,
                                        Attributes attributes) = 0;

  ValueId emit(Op op, std::initializer_list<ValueId> operands, Attributes attributes = {}) {
    return emit(op, std::span<const ValueId>(operands.begin(), operands.size()),
                std::move(attributes));
  }
};

}  // namespace shard
