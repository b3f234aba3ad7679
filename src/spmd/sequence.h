#pragma once
// From one split of an array to another as Shardy does it: slice, permute, all-to-alls, gather, at
// most two rounds. Every step may touch several dims; `plan_reshard` makes single collectives of
// it.

#include <vector>

#include "base/tensor_type.h"
#include "spmd/axes.h"
#include "spmd/program.h"

namespace shard::spmd {

struct SequenceStep {
  CollectiveKind kind = CollectiveKind::all_slice;
  AxesPerDim after;
  Axes axes;  ///< those sliced, moved or gathered; empty for a permute

  friend bool operator==(const SequenceStep&, const SequenceStep&) = default;
};

/// The steps from `start` to `goal` (joined axes, no axis of size 1). Shards between the steps may
/// be uneven even if both ends are even; and the last step may fall short of the goal, at least
/// when sub-axes of both sides do not nest (an axis of 6 as 2x3 and as 3x2), where there are no
/// steps at all. Source: Shardy's reshard-to-collectives pass (openxla/shardy, 2025).
std::vector<SequenceStep> collective_sequence(const Shape& shape, const AxesPerDim& start,
                                              const AxesPerDim& goal);

}  // namespace shard::spmd
