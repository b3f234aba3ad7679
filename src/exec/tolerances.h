#pragma once
// How far a value of a correct run may be from the reference.

#include <algorithm>
#include <vector>

#include "model/graph.h"

namespace shard {

/// How far a result may be from the reference, relative to its largest magnitude. The executor adds
/// in another order and in the array's own precision, the reference in double; for products of a
/// thousand terms and sums over them that is some ten units in the last place.
double comparison_tolerance(DType dtype);

/// Below this magnitude the numbers of a type of fewer than 32 bits lie no closer together: its
/// smallest normal number. 0 for other types, which do not come near theirs.
double least_magnitude(DType dtype);

/// How far the elements of an array may be from the reference's.
struct Tolerance {
  double relative = 0;  ///< to the largest magnitude of the array
  double least = 0;     ///< magnitude from which on it is relative

  double allowed(double largest) const { return relative * std::max(largest, least); }
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// By ValueId: the tolerance of the coarsest type on the way to the value. What was rounded to 16
/// bits once is no better for being widened again. What a graph is given is exact.
std::vector<Tolerance> tolerances_of(const Graph& graph);

}  // namespace shard
