#pragma once
// What changes no result of a reduction.

#include "base/dtype.h"
#include "ops/factors.h"

namespace shard {

/// 0 of a sum, 1 of a product; of the largest and the smallest the other end of the dtype's
/// numbers, which is an infinity for floating point.
double neutral_of(Reduction reduction, DType dtype);

}  // namespace shard
