#pragma once
// What `unfold` looks at in each program: instructions and buffers by iteration, and where they
// stand.

#include <vector>

#include "model/iterations.h"
#include "spmd/liveness.h"
#include "spmd/unfold.h"

namespace shard::spmd {

/// An instruction, those of a loop's body behind the loop.
struct StepFacts {
  const Instruction* instruction = nullptr;
  int position = -1;  ///< in the main body; -1 in loops
  Life moments;       ///< from its begin to its end
  std::vector<int>
      needs;  ///< by operand: the position of what makes it; -1: an input, or in a loop
};

struct BufferFacts {
  const Buffer* buffer = nullptr;
  int number = -1;        ///< counted from the first that is no input; -1 for inputs
  Life place;             ///< the life of its place
  Life held;              ///< see `tenancies`
  bool is_owner = false;  ///< of memory: others lie in their owner's
  bool is_root = false;   ///< of a place that is no view
};

struct FoldFacts {
  const Program* program = nullptr;
  std::vector<StepFacts> steps;
  std::vector<BufferFacts> buffers;
  ByIteration by_step{{}};
  ByIteration by_buffer{{}};
  int inputs = 0;
  int end = 0;  ///< the last moment
};

FoldFacts fold_facts(const FoldedFunction& function);
/// The instructions alone; no buffers.
FoldFacts step_facts(const FoldedFunction& function);

/// The same but for numbers in names and for where they stand.
bool are_alike(const StepFacts& a, const StepFacts& b);
bool are_alike(const BufferFacts& a, const BufferFacts& b);

}  // namespace shard::spmd
