#include "exec/initial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "exec/element.h"

namespace shard {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// In (0, 1), symmetric about 1/2, in steps of 2^-53.
double uniform_of(std::uint64_t key, std::int64_t index) {
  const std::uint64_t bits =
      mix(key + (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15U);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = 0;
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

/// Inverse of the normal distribution function, to about 1e-16 (Wichura, "Algorithm AS 241: The
/// Percentage Points of the Normal Distribution", 1988, routine PPND16). Highest power first.
double normal_quantile(double p) {
  static constexpr std::array<double, 8> a = {
      2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
  static constexpr std::array<double, 8> b = {
      5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static constexpr std::array<double, 8> c = {7.7454501427834140764e-4, 0.0227238449892691845833,
                                              0.24178072517745061177,   1.27045825245236838258,
                                              3.64784832476320460504,   5.7694972214606914055,
                                              4.6303378461565452959,    1.42343711074968357734};
  static constexpr std::array<double, 8> d = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                              0.0151986665636164571966,  0.14810397642748007459,
                                              0.68976733498510000455,    1.6763848301838038494,
                                              2.05319162663775882187,    1.0};
  static constexpr std::array<double, 8> e = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                              0.0012426609473880784386,  0.026532189526576123093,
                                              0.29656057182850489123,    1.7848265399172913358,
                                              5.4637849111641143699,     6.6579046435011037772};
  static constexpr std::array<double, 8> f = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                              1.8463183175100546818e-5,   7.868691311456132591e-4,
                                              0.0148753612908506148525,   0.13692988092273580531,
                                              0.59983220655588793769,     1.0};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double tail = std::sqrt(-std::log(q < 0 ? p : 1.0 - p));
  const double x = tail <= 5.0 ? polynomial(c, tail - 1.6) / polynomial(d, tail - 1.6)
                               : polynomial(e, tail - 5.0) / polynomial(f, tail - 5.0);
  return q < 0 ? -x : x;
}

double draw_zero(double, double) { return 0.0; }
double draw_one(double, double) { return 1.0; }
double draw_constant(double, double scale) { return scale; }
double draw_normal(double u, double scale) { return scale * normal_quantile(u); }
double draw_uniform(double u, double scale) { return scale * (2.0 * u - 1.0); }

/// Standard deviation of a standard normal cut off at -2 and 2; jax.nn.initializers divides by it.
constexpr double truncated_deviation = 0.87962566103423978;

double draw_truncated_normal(double u, double scale) {
  static const double below = 0.5 * std::erfc(std::numbers::sqrt2);  // P(x < -2)
  const double x = normal_quantile(below + u * (1.0 - 2.0 * below));
  return scale / truncated_deviation * x;
}

struct DistributionRow {
  std::string_view kind;
  double (*draw)(double, double);
  bool is_constant;
};
constexpr std::array<DistributionRow, 6> rows = {{
    {"zeros", draw_zero, true},
    {"ones", draw_one, true},
    {"constant", draw_constant, true},
    {"normal", draw_normal, false},
    {"truncated_normal", draw_truncated_normal, false},
    {"uniform", draw_uniform, false},
}};

template <class Element>
HostTensor tensor_of(const TensorType& type, const Element& element) {
  HostTensor tensor = zeros(type);
  std::vector<double> numbers(static_cast<std::size_t>(element_count(type.shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = element(static_cast<std::int64_t>(i));
  }
  from_doubles(numbers.data(), type.dtype, tensor.bytes.data(), numbers.size());
  return tensor;
}

}  // namespace

std::uint64_t hash_name(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

InitialFunction::InitialFunction(const InitialValue& init, std::uint64_t seed,
                                 std::uint64_t name_hash)
    : scale_(init.scale), key_(mix(mix(seed + 0x9e3779b97f4a7c15U) ^ name_hash)) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const DistributionRow& r) { return r.kind == init.kind; });
  SHARD_CHECK(row != rows.end(), "the model knows the kind of initial value");
  draw_ = row->draw;
  is_constant_ = row->is_constant;
}

double InitialFunction::operator()(std::int64_t index) const {
  return draw_(uniform_of(key_, index), scale_);
}

double initial_element(const InitialValue& init, std::uint64_t seed, std::uint64_t name_hash,
                       std::int64_t index) {
  return InitialFunction(init, seed, name_hash)(index);
}

HostTensor initial_tensor(const InitialValue& init, const TensorType& type, std::uint64_t seed,
                          const std::string& name) {
  return tensor_of(type, InitialFunction(init, seed, hash_name(name)));
}

HostTensor example_input(const TensorType& type, std::uint64_t seed, const std::string& name) {
  if (info(type.dtype).is_float) return initial_tensor({"normal", 1.0}, type, seed, name);
  return tensor_of(type, [](std::int64_t index) { return static_cast<double>(index % 128); });
}

}  // namespace shard
