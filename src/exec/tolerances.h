#pragma once
// How far a value of a correct run may be from the reference.

#include <vector>

#include "model/graph.h"

namespace shard {

/// How far a result may be from the reference, relative to its largest magnitude. The executor adds
/// in another order and in the array's own precision, the reference in double; for products of a
/// thousand terms and sums over them that is some ten units in the last place.
double comparison_tolerance(DType dtype);

/// By ValueId: the tolerance of the coarsest type on the way to the value. What was rounded to 16
/// bits once is no better for being widened again. What a graph is given is exact.
std::vector<double> tolerances_of(const Graph& graph);

}  // namespace shard
