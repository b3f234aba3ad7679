#pragma once
// One executed step compared with the unsharded reference.
//
// An optimizer may make much of little: the first step of adam goes one learning rate in the
// direction of the gradient's *sign*. Where a gradient is smaller than its own rounding error, that
// sign is not determined, and two correct runs may differ by two learning rates there. So the
// results of the update, however many ops it is made of, are compared with a range: what it gives
// for the reference's gradients and for those gradients moved by their tolerance either way. An
// update need not be monotone in its gradient (from the second step of adam on the longest step is
// that of a gradient somewhere within its error): where the ends of the range do not explain a
// result, gradients all over it are tried. There a gradient that is exactly 0 keeps to 0 only if
// slightly different inputs give 0 too; otherwise its addends have cancelled out, and it has a
// rounding error like others.
//
// Values of 16 bits have few digits, and where addends nearly cancel out, a unit is on or off, or
// one of two experts is the better by a hair, results hang on which way something was rounded. What
// differs otherwise is therefore looked for between the results of runs that round up or down at
// random.

#include <cstdint>
#include <vector>

#include "exec/measure.h"
#include "model/graph.h"

namespace shard {

struct StepComparison {
  std::vector<Difference> differences;  ///< one per output of the graph
  /// Elements, of all outputs together, that differ by more than the tolerance and hang on such a
  /// gradient.
  std::int64_t undetermined = 0;
  /// Elements that differ by more than that and hang on how values of 16 bits are rounded.
  std::int64_t rounded_otherwise = 0;
};

/// Compares `actual`, one array per output of `graph`, with what the reference gives for `inputs`.
StepComparison compare_step(const Graph& graph, const std::vector<HostTensor>& inputs,
                            const std::vector<HostTensor>& actual);

}  // namespace shard
