#pragma once
// The forms in which values exist while a graph is lowered.

#include <string>

#include "spmd/program.h"

namespace shard::spmd {

using ReasonOf = CollectiveReason::Kind;

/// A value as it exists somewhere in the program: split like this, in that buffer. What is
/// unreduced is combined by `reduction` when somebody needs it whole.
struct Variant {
  Sharding sharding;
  BufferId buffer = BufferId::none;
  NodeId node = NodeId::none;           ///< what made it; none for parameters
  ReasonOf reason = ReasonOf::operand;  ///< of bringing it to the value's own sharding
  Reduction reduction = Reduction::sum;
  std::string label;  ///< of the dims that are summed over
};

/// A loop whose body is being lowered.
struct LoopFrame {
  NodeId node = NodeId::none;
  Instruction* loop = nullptr;
  int outer_body = 0;
  std::size_t first_invariant = 0;
};

}  // namespace shard::spmd
