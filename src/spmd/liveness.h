#pragma once
// When each buffer of a program holds something that is still wanted, on one line of moments: the
// instructions of the main body in order, those of a loop's body between the loop's begin and end.

#include <utility>
#include <vector>

#include "spmd/program.h"

namespace shard::spmd {

/// Both ends included: an operand's last and a result's first moment meet at the instruction.
struct Life {
  int first = 0;
  int last = 0;

  friend bool operator==(const Life&, const Life&) = default;
};

/// Moment 0 is before the first instruction, `end` after the last. One iteration stands for all of
/// a loop.
struct Liveness {
  std::vector<Life> lives;                 ///< by buffer
  std::vector<std::vector<Life>> moments;  ///< by body and position; a loop's begin and end
  std::vector<int> main_position;          ///< by moment; -1 for the first, n for the last
  int end = 0;
};

/// Lives of all buffers. Inputs that no output replaces live to the end, because the next step
/// reads them. Stacked results of a loop live from its begin; carry results from its end, since the
/// carry parameters and the body's carry results stand for them before that. Other operands than
/// carries live to the loop's end.
Liveness find_lives(const Program& program);

/// Position in `inputs` is replaced by an output: somebody donates to it.
std::vector<bool> donated_inputs(const Program& program);

/// By buffer: how often instructions read it, or bodies return it.
std::vector<int> count_readers(const Program& program);

/// Counts of a loop's operands by kind.
struct LoopShape {
  std::size_t carries = 0;
  std::size_t stacked = 0;
};
LoopShape loop_shape(const Instruction& loop);

}  // namespace shard::spmd
