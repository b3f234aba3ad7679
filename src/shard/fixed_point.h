#pragma once
// Propagation to a fixed point: op priorities outermost, then strategies, each with a worklist over
// all nodes (spec section 6.3).

#include <vector>

#include "shard/flow.h"
#include "shard/step.h"

namespace shard {

struct FlowOutcome {
  std::vector<Gain> gains;               ///< in the order they happened
  std::vector<std::size_t> gains_until;  ///< by op priority: gains up to its end
  std::vector<FlowConflict> conflicts;
};

/// Expands the slots' shardings in place. JAX uses {aggressive}.
FlowOutcome reach_fixed_point(FlowGraph& flow,
                              const std::vector<Strategy>& strategies = {Strategy::aggressive});

}  // namespace shard
