#pragma once
// The inverse of the normal distribution function, one by one and for whole arrays.

#include <cstddef>

namespace shard {

/// To about 1e-16 (Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution",
/// 1988, routine PPND16). `p` is in (0, 1).
double normal_quantile(double p);

/// The same bits for `count` of them, in place.
void normal_quantiles(double* p, std::size_t count);

}  // namespace shard
