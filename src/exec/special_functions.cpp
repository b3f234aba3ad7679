#include "exec/special_functions.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace shard {
namespace {

/// Below, going up step by step takes too long.
constexpr double lowest_of_higher_orders = -1e5;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A first guess, good to a few digits (Winitzki, "A handy approximation for the error function and
/// its inverse", 2008).
double erf_inverse_guess(double y) {
  const double a = 0.147, rest = std::log1p(-y * y);
  const double half = 2 / (std::numbers::pi * a) + rest / 2;
  return std::copysign(std::sqrt(std::sqrt(half * half - rest / a) - half), y);
}

/// erf(x) - y, far from 0 by erfc, which has the digits that erf loses there.
double erf_miss(double x, double y) {
  if (std::fabs(y) < 0.5) return std::erf(x) - y;
  return y > 0 ? (1 - y) - std::erfc(x) : std::erfc(-x) - (1 + y);
}

/// B_2, B_4, ... B_20.
constexpr std::array<double, 10> bernoulli = {
    1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
    -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

/// The asymptotic series (Abramowitz and Stegun, 6.3.18 and 6.4.11) for large x, without the sign
/// (-1)^(order+1) of higher orders.
double polygamma_series(std::int64_t order, double x) {
  const auto n = static_cast<double>(order);
  double sum =
      order == 0 ? std::log(x) - 0.5 / x
                 : std::tgamma(n) * std::pow(x, -n) + std::tgamma(n + 1) / 2 * std::pow(x, -n - 1);
  for (std::size_t i = 0; i < bernoulli.size(); ++i) {
    const double k = 2 * static_cast<double>(i + 1);
    const double term =
        bernoulli[i] * std::pow(x, -k - n) * std::exp(log_gamma(k + n) - log_gamma(k + 1));
    sum += order == 0 ? -term : term;
  }
  return sum;
}

bool is_pole(double x) { return x <= 0 && x == std::floor(x); }

}  // namespace

double erf_inverse(double y) {
  if (!(std::fabs(y) <= 1)) return std::nan("");
  if (std::fabs(y) == 1) return std::copysign(infinity, y);
  if (y == 0) return y;
  double x = erf_inverse_guess(y);
  for (int i = 0; i < 4; ++i)
    x -= erf_miss(x, y) * std::exp(x * x) / (2 * std::numbers::inv_sqrtpi);
  return x;
}

double polygamma(std::int64_t order, double x) {
  if (std::isnan(x) || is_pole(x)) return std::nan("");
  if (std::isinf(x)) return x < 0 ? std::nan("") : (order == 0 ? x : 0.0);
  if (order == 0 && x < 0) {
    return polygamma(0, 1 - x) -
           std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
  }
  if (x < lowest_of_higher_orders) return std::nan("");
  // Upwards by psi_n(x) = psi_n(x + 1) - (-1)^n n! / x^(n+1) until the series is good.
  const auto n = static_cast<double>(order);
  const double sign = order % 2 == 0 ? -1 : 1, scale = std::tgamma(n + 1);
  const double enough = 18 + n;
  double sum = 0;
  for (; x < enough; x += 1) sum += sign * scale * std::pow(x, -n - 1);
  return sum + (order == 0 ? 1 : sign) * polygamma_series(order, x);
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace shard
