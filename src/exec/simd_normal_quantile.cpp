#include "exec/normal_quantile.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/simd_normal_quantile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exec/processor.h"
// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#ifndef SHARD_QUANTILE_COEFFICIENTS
#define SHARD_QUANTILE_COEFFICIENTS
namespace shard {

using Coefficients = std::array<double, 8>;  // highest power first

/// A polynomial over another.
struct QuantileFraction {
  Coefficients above, below;
};

constexpr double central_width = 0.425, central_square = 0.180625;
constexpr double near_tail = 1.6, far_tail = 5.0;
constexpr double surely_near = 2e-11;  // at least so far from 0 and 1, the root is below `far_tail`

constexpr QuantileFraction central_fraction = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0}};
constexpr QuantileFraction near_fraction = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
     1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
     1.0}};
constexpr QuantileFraction far_fraction = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699,
     6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0}};

/// All as if none were in a tail, from p; and those of the nearer tail, from its root. In place.
struct QuantileLoops {
  void (*central)(double* p, std::size_t count);
  void (*near)(double* root, std::size_t count);
};

}  // namespace shard
#endif

HWY_BEFORE_NAMESPACE();
namespace shard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;
using OneDouble = hn::CappedTag<double, 1>;

// No multiplication is joined with an addition here (see the build's options of this file): the
// bits are the same on every processor.

template <class D, class V>
HWY_INLINE V polynomial(D d, const Coefficients& coefficients, V x) {
  V sum = hn::Set(d, coefficients[0]);
  for (std::size_t i = 1; i < coefficients.size(); ++i) {
    sum = hn::Add(hn::Mul(sum, x), hn::Set(d, coefficients[i]));
  }
  return sum;
}

struct Central {
  template <class D, class V>
  static HWY_INLINE V of(D d, V p) {
    const V q = hn::Sub(p, hn::Set(d, 0.5));
    const V r = hn::Sub(hn::Set(d, central_square), hn::Mul(q, q));
    return hn::Div(hn::Mul(q, polynomial(d, central_fraction.above, r)),
                   polynomial(d, central_fraction.below, r));
  }
};

struct Near {
  template <class D, class V>
  static HWY_INLINE V of(D d, V root) {
    const V r = hn::Sub(root, hn::Set(d, near_tail));
    return hn::Div(polynomial(d, near_fraction.above, r), polynomial(d, near_fraction.below, r));
  }
};

template <class F>
void each_quantile(double* x, std::size_t count) {
  const Doubles d;
  const OneDouble one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(F::of(d, hn::LoadU(d, x + i)), d, x + i);
  for (; i < count; ++i) hn::StoreU(F::of(one, hn::LoadU(one, x + i)), one, x + i);
}

const QuantileLoops* make_quantile_loops() {
  static constexpr QuantileLoops loops = {each_quantile<Central>, each_quantile<Near>};
  return &loops;
}

}  // namespace shard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shard {

SHARD_FORMS(make_quantile_loops);

namespace {

const QuantileLoops& quantile_loops() {
  static const QuantileLoops* const loops =
      best_form(make_quantile_loops_forms, instruction_sets())();
  return *loops;
}

double plain_polynomial(const Coefficients& coefficients, double x) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < coefficients.size(); ++i) sum = sum * x + coefficients[i];
  return sum;
}

double fraction(const QuantileFraction& f, double x) {
  return plain_polynomial(f.above, x) / plain_polynomial(f.below, x);
}

bool is_central(double p) { return std::fabs(p - 0.5) <= central_width; }

double tail_root(double p) { return std::sqrt(-std::log(p < 0.5 ? p : 1.0 - p)); }

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (is_central(p)) {
    const double r = central_square - q * q;
    return q * plain_polynomial(central_fraction.above, r) /
           plain_polynomial(central_fraction.below, r);
  }
  const double root = tail_root(p);
  const double x = root <= far_tail ? fraction(near_fraction, root - near_tail)
                                    : fraction(far_fraction, root - far_tail);
  return q < 0 ? -x : x;
}

void normal_quantiles(double* p, std::size_t count) {
  constexpr std::size_t block = 512;
  std::array<std::uint32_t, block> place;
  std::array<double, block> tail, root;
  for (std::size_t start = 0; start < count; start += block) {
    double* const own = p + start;
    const std::size_t n = std::min(block, count - start);
    std::size_t tails = 0;
    for (std::size_t i = 0; i < n; ++i) {  // without a jump that cannot be foreseen
      place[tails] = static_cast<std::uint32_t>(i);
      tail[tails] = own[i];
      tails += is_central(own[i]) ? 0 : 1;
    }
    for (std::size_t i = 0; i < tails; ++i) root[i] = tail_root(tail[i]);
    quantile_loops().near(root.data(), tails);
    quantile_loops().central(own, n);
    for (std::size_t i = 0; i < tails; ++i) {
      const bool is_far = std::min(tail[i], 1.0 - tail[i]) < surely_near;
      own[place[i]] = is_far ? normal_quantile(tail[i]) : tail[i] < 0.5 ? -root[i] : root[i];
    }
  }
}

}  // namespace shard
#endif
