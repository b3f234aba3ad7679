#pragma once
// Which elements of an array a broadcast of it repeats where.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/kernel.h"

namespace shard {

class SpreadWalk {
 public:
  /// Of a `broadcast`.
  explicit SpreadWalk(const KernelSite& site);

  /// Writes elements `first`, `first + 1`... of the result, `count` of them, to `to`; `from` is the
  /// whole operand.
  void copy(const std::byte* from, std::int64_t first, std::int64_t count, std::byte* to) const;

 private:
  /// A dim of the result with the operand's stride in bytes, 0 where it is repeated.
  struct Dim {
    std::int64_t size = 1;
    std::int64_t stride = 0;
  };

  std::vector<Dim> dims_;  ///< neighbours that are walked alike are one; at least one
  std::int64_t width_ = 0;
};

}  // namespace shard
