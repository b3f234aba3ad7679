#pragma once
// The arrays of two layouts side by side, by name.

#include <vector>

#include "check/layout_record.h"

namespace shard {

/// Arrays that are alike on both sides, or on the one side that has them. A side's array is -1
/// where it has none.
struct ArrayPair {
  int before = -1;
  int after = -1;
  SharedNames names;
  std::vector<std::size_t> positions;  ///< in the newer side's names; empty: all of them

  bool has_both() const { return before >= 0 && after >= 0; }
};

/// Every array of either side once: in order of `after`, then what only `before` has. Quick where
/// both sides share their names.
std::vector<ArrayPair> pair_arrays(const LayoutRecord& before, const LayoutRecord& after);

}  // namespace shard
