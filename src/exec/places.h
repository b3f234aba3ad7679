#pragma once
// Where the buffers of a Program lie, worked out from the buffers themselves (aliases and views
// followed to the buffer that has a place of its own).

#include <vector>

#include "base/diagnostic.h"
#include "exec/stream.h"
#include "spmd/program.h"

namespace shard {

class Places {
 public:
  explicit Places(const Program& program);

  Place of(BufferId id) const;

  /// The part of stacked buffer `id` that is the current slice of the loop with body `body`.
  Place slice(BufferId id, int body, std::int64_t bytes) const;

  /// Adds a `bad-program` for every buffer that reaches beyond the planned peak.
  void check_bounds(Diagnostics& diagnostics) const;

  /// True when the two share a byte in some iteration of the same loops. Places that move alike are
  /// compared within one iteration, others over all the slices they visit.
  bool may_overlap(const Place& a, const Place& b) const;

 private:
  /// One past the last byte that the place covers in any iteration.
  std::int64_t end_of(const Place& place) const;

  const Program& program_;
  std::vector<std::int64_t> times_;  ///< per body: how often its loop runs it
};

}  // namespace shard
