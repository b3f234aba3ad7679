#pragma once
// Functions that the standard library has not.

#include <cstdint>

namespace shard {

/// The x with erf(x) = y; infinite at -1 and 1, NaN beyond.
double erf_inverse(double y);

/// The derivative of order `order` + 1 of log(gamma(x)): digamma for order 0. Good to about 1e-14
/// of its terms; NaN at the poles, which are 0 and the negative integers, and for higher orders
/// below -1e5.
double polygamma(std::int64_t order, double x);

/// log |gamma(x)|, without the sign that the C library keeps in a global.
double log_gamma(double x);

}  // namespace shard
