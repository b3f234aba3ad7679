#pragma once
// What was recorded for every case of the numerics groups `ops` and `edges`, in our ops.

#include <functional>
#include <map>
#include <string>

#include "property/array_words.h"

namespace shard::test {

/// How close another implementation has to come (the recording's own table of bounds).
enum class Closeness {
  exact,     ///< choices, comparisons, moved elements
  function,  ///< elementwise functions and reductions
  special,   ///< functions that implementations approximate differently
  product,   ///< matrix products, softmax, norms, long chains
};

/// The arguments by name; the results in order.
using Arguments = std::map<std::string, X>;
struct RecordedExpression {
  Closeness closeness;
  std::function<Xs(const Arguments& arguments)> build;
};

/// By case name; `unary/exp` of the edges is `exp` where it has no row of its own. nullptr for a
/// case we have no ops for.
const RecordedExpression* recorded_expression(const std::string& name);

}  // namespace shard::test
