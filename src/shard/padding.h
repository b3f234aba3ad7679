#pragma once
// `misfit: pad` in a program: arrays are stored with padding where their axes do not divide them,
// and the program computes on padded arrays, so that what padding holds reaches no result.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "model/graph.h"

namespace shard {

/// A dim that is cut into more pieces than divide it.
struct PaddingNeed {
  ValueId value = ValueId::none;
  int dim = 0;
  std::int64_t parts = 1;
  std::string what;  ///< the array, as messages call it
  Location at;
};

/// Enlarges every dim that is tied to a needed one by the factors of the ops between them, to the
/// next multiple of all their parts, and hides the padding from each sum (or largest, smallest,
/// product) over such a dim by a `select`. Values that are added for that come last.
///
/// Example: w[10,4] cut 4 ways along dim 0, used in x[2,10] @ w. Both get 12, and both operands of
/// the product are zero from 10 on.
///
/// Reports `indivisible` where an op on the way cannot work on padded dims (a reshape, a sort along
/// the dim); the graph is then as it was.
void pad_graph(Graph& graph, std::span<const PaddingNeed> needs, Diagnostics& diagnostics);

}  // namespace shard
