#pragma once
// Float arrays on huge pages, as the arenas have them.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "exec/arena.h"

namespace shard::bench {

class Floats {
 public:
  explicit Floats(std::int64_t count) : arena_(count * 4, 0), count_(count) {
    for (std::int64_t i = 0; i < count; ++i) data()[i] = 0.01F;
  }
  float* data() const { return reinterpret_cast<float*>(arena_.base()); }
  std::int64_t count() const { return count_; }

 private:
  Arena arena_;
  std::int64_t count_;
};

}  // namespace shard::bench
