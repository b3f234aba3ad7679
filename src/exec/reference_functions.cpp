// The reference's further elementwise functions.

#include <bit>
#include <cmath>
#include <numbers>

#include "exec/reference_rows.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

double element(const Call& call, std::size_t operand, std::size_t i) {
  const std::vector<double>& values = call.values(operand);
  return values[values.size() == 1 ? 0 : i];
}

template <class F>
void one_by_one(const Call& call, F f) {
  std::vector<double>& out = call.results[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(element(call, 0, i));
}

template <class F>
void two_by_two(const Call& call, F f) {
  std::vector<double>& out = call.results[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(element(call, 0, i), element(call, 1, i));
}

int bits_in(const Call& call) {
  const DTypeInfo& dtype = info(call.results[0].type.dtype);
  return dtype.dtype == DType::boolean ? 1 : 8 * dtype.bytes;
}

/// The bits of an integer of the call's width, as an unsigned number; and back.
std::uint64_t bits_from(const Call& call, double x) {
  const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return bits_in(call) == 64 ? whole : whole & ((std::uint64_t{1} << bits_in(call)) - 1);
}
double number_from(const Call& call, std::uint64_t bits) {
  const DTypeInfo& dtype = info(call.results[0].type.dtype);
  const int width = bits_in(call);
  if (width == 64) {
    return dtype.is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                           : static_cast<double>(bits);
  }
  const std::uint64_t kept = bits & ((std::uint64_t{1} << width) - 1);
  const bool is_negative = dtype.is_signed && (kept >> (width - 1)) != 0;
  return static_cast<double>(kept) - (is_negative ? std::ldexp(1, width) : 0);
}

template <class F>
void on_bits(const Call& call, F f) {
  two_by_two(call, [&](double a, double b) {
    return number_from(call, f(bits_from(call, a), bits_from(call, b)));
  });
}

template <class F>
void on_own_bits(const Call& call, F f) {
  one_by_one(call, [&](double a) { return number_from(call, f(bits_from(call, a))); });
}

/// By halving the interval: slow, and nothing like what the kernel does.
double inverse_of_erf(double y) {
  if (!(std::fabs(y) <= 1)) return std::nan("");
  if (std::fabs(y) == 1) return y * HUGE_VAL;
  double low = 0, high = 6;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    const bool is_low =
        std::fabs(y) < 0.5 ? std::erf(middle) < std::fabs(y) : std::erfc(middle) > 1 - std::fabs(y);
    (is_low ? low : high) = middle;
  }
  return std::copysign(low, y);
}

/// The defining series, summed to where an integral stands for the rest.
double polygamma_at(double order, double x) {
  const int terms = 200000;
  if (order == 0) {
    double sum = -std::numbers::egamma;
    for (int k = 0; k < terms; ++k) sum += (x - 1) / ((k + 1.0) * (k + x));
    // The rest of sum 1/(k+1) - 1/(k+x) from k = terms, by the middle of each step.
    return sum + std::log((terms + x - 0.5) / (terms + 0.5));
  }
  double sum = 0;
  for (int k = 0; k < terms; ++k) sum += std::pow(k + x, -order - 1);
  sum += std::pow(terms + x - 0.5, -order) / order;
  return (std::fmod(order, 2) == 0 ? -1 : 1) * std::tgamma(order + 1) * sum;
}

}  // namespace

void expm1(const Call& c) {
  one_by_one(c, [](double x) { return std::expm1(x); });
}
void log1p(const Call& c) {
  one_by_one(c, [](double x) { return std::log1p(x); });
}
void exp2(const Call& c) {
  one_by_one(c, [](double x) { return std::pow(2, x); });
}
void erf(const Call& c) {
  one_by_one(c, [](double x) { return std::erf(x); });
}
void erfc(const Call& c) {
  one_by_one(c, [](double x) { return std::erfc(x); });
}
void erf_inv(const Call& c) { one_by_one(c, inverse_of_erf); }
void lgamma(const Call& c) {
  one_by_one(c, [](double x) { return std::lgamma(x); });
}
void polygamma(const Call& c) {
  const auto order = static_cast<double>(c.attributes.integer("order"));
  one_by_one(c, [&](double x) { return polygamma_at(order, x); });
}
void cbrt(const Call& c) {
  one_by_one(c, [](double x) { return std::cbrt(x); });
}
void tan(const Call& c) {
  one_by_one(c, [](double x) { return std::tan(x); });
}
void asin(const Call& c) {
  one_by_one(c, [](double x) { return std::asin(x); });
}
void acos(const Call& c) {
  one_by_one(c, [](double x) { return std::acos(x); });
}
void atan(const Call& c) {
  one_by_one(c, [](double x) { return std::atan(x); });
}
void sinh(const Call& c) {
  one_by_one(c, [](double x) { return std::sinh(x); });
}
void cosh(const Call& c) {
  one_by_one(c, [](double x) { return std::cosh(x); });
}
void asinh(const Call& c) {
  one_by_one(c, [](double x) { return std::asinh(x); });
}
void acosh(const Call& c) {
  one_by_one(c, [](double x) { return std::acosh(x); });
}
void atanh(const Call& c) {
  one_by_one(c, [](double x) { return std::atanh(x); });
}
void floor(const Call& c) {
  one_by_one(c, [](double x) { return std::floor(x); });
}
void ceil(const Call& c) {
  one_by_one(c, [](double x) { return std::ceil(x); });
}
void round_even(const Call& c) {
  one_by_one(c, [](double x) { return std::nearbyint(x); });
}
void round_away(const Call& c) {
  one_by_one(c, [](double x) { return std::round(x); });
}
void is_finite(const Call& c) {
  one_by_one(c, [](double x) { return std::isfinite(x) ? 1 : 0; });
}
void remainder(const Call& c) {
  two_by_two(c, [&](double x, double y) {
    // Of integers by zero: the dividend.
    return y == 0 && !info(c.results[0].type.dtype).is_float ? x : std::fmod(x, y);
  });
}
void atan2(const Call& c) {
  two_by_two(c, [](double y, double x) { return std::atan2(y, x); });
}
void eq(const Call& c) {
  two_by_two(c, [](double x, double y) { return x == y ? 1 : 0; });
}
void ne(const Call& c) {
  two_by_two(c, [](double x, double y) { return x != y ? 1 : 0; });
}
void lt(const Call& c) {
  two_by_two(c, [](double x, double y) { return x < y ? 1 : 0; });
}
void le(const Call& c) {
  two_by_two(c, [](double x, double y) { return x <= y ? 1 : 0; });
}
void gt(const Call& c) {
  two_by_two(c, [](double x, double y) { return x > y ? 1 : 0; });
}
void ge(const Call& c) {
  two_by_two(c, [](double x, double y) { return x >= y ? 1 : 0; });
}
void bitwise_and(const Call& c) {
  on_bits(c, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void bitwise_or(const Call& c) {
  on_bits(c, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void bitwise_xor(const Call& c) {
  on_bits(c, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
void bitwise_not(const Call& c) {
  on_own_bits(c, [](std::uint64_t a) { return ~a; });
}
void shift_left(const Call& c) {
  const auto bits = static_cast<std::uint64_t>(bits_in(c));
  on_bits(c, [&](std::uint64_t a, std::uint64_t by) { return by >= bits ? 0 : a << by; });
}
void shift_right_logical(const Call& c) {
  const auto bits = static_cast<std::uint64_t>(bits_in(c));
  on_bits(c, [&](std::uint64_t a, std::uint64_t by) { return by >= bits ? 0 : a >> by; });
}
void shift_right_arithmetic(const Call& c) {
  // Division by a power of two, rounded down; of a sign that fills all bits nothing else is left.
  const double range = std::ldexp(1, bits_in(c));
  two_by_two(c, [&](double a, double by) {
    const double value = a >= range / 2 ? a - range : a;
    const bool is_too_far = by < 0 || by >= bits_in(c);
    return std::floor(is_too_far ? value / range : std::ldexp(value, -static_cast<int>(by)));
  });
}
void population_count(const Call& c) {
  on_own_bits(c, [](std::uint64_t a) { return static_cast<std::uint64_t>(std::popcount(a)); });
}
void count_leading_zeros(const Call& c) {
  on_own_bits(c, [&](std::uint64_t a) {
    return static_cast<std::uint64_t>(std::countl_zero(a) - (64 - bits_in(c)));
  });
}
void select(const Call& c) {
  std::vector<double>& out = c.results[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = element(c, element(c, 0, i) != 0 ? 1 : 2, i);
  }
}
void clamp(const Call& c) {
  std::vector<double>& out = c.results[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double low = element(c, 0, i), x = element(c, 1, i), high = element(c, 2, i);
    const bool is_nan = std::isnan(low) || std::isnan(x) || std::isnan(high);
    out[i] = is_nan ? std::nan("") : std::fmin(std::fmax(x, low), high);
  }
}

}  // namespace shard::reference
