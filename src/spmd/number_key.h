#pragma once
// Numbers written one after another, to look up by what was worked out once.

#include <cstdint>
#include <string>

#include "base/tensor_type.h"
#include "shard/sharding.h"

namespace shard::spmd {

/// Two keys are equal when the same things were added in the same order.
class NumberKey {
 public:
  void clear() { text_.clear(); }
  void add(std::int64_t number);
  void add(const TensorType& type);
  /// The axes of its dims and those over which it is a sum.
  void add(const Sharding& sharding);

  const std::string& text() const { return text_; }

 private:
  void add(const std::vector<AxisRef>& axes);

  std::string text_;
};

}  // namespace shard::spmd
