#include "exec/initial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "exec/element.h"
#include "exec/normal_quantile.h"

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

double draw_zero(double, double) { return 0.0; }
double draw_one(double, double) { return 1.0; }
double draw_constant(double, double scale) { return scale; }
double draw_normal(double u, double scale) { return scale * normal_quantile(u); }
double draw_uniform(double u, double scale) { return scale * (2.0 * u - 1.0); }

/// `draw` for all.
template <double (*draw)(double, double)>
void draw_each(std::span<double> u, double scale) {
  for (double& x : u) x = draw(x, scale);
}

void draw_normals(std::span<double> u, double scale) {
  normal_quantiles(u.data(), u.size());
  for (double& x : u) x = scale * x;
}

/// Standard deviation of a standard normal cut off at -2 and 2; jax.nn.initializers divides by it.
constexpr double truncated_deviation = 0.87962566103423978;

/// Where in the whole distribution something at `u` of the cut one is.
double uncut(double u) {
  static const double below = 0.5 * std::erfc(std::numbers::sqrt2);  // P(x < -2)
  return below + u * (1.0 - 2.0 * below);
}

double draw_truncated_normal(double u, double scale) {
  return scale / truncated_deviation * normal_quantile(uncut(u));
}

void draw_truncated_normals(std::span<double> u, double scale) {
  for (double& x : u) x = uncut(x);
  normal_quantiles(u.data(), u.size());
  for (double& x : u) x = scale / truncated_deviation * x;
}

struct DistributionRow {
  std::string_view kind;
  double (*draw)(double, double);
  void (*draw_all)(std::span<double>, double);
  bool is_constant;
};
constexpr std::array<DistributionRow, 6> rows = {{
    {"zeros", draw_zero, draw_each<draw_zero>, true},
    {"ones", draw_one, draw_each<draw_one>, true},
    {"constant", draw_constant, draw_each<draw_constant>, true},
    {"normal", draw_normal, draw_normals, false},
    {"truncated_normal", draw_truncated_normal, draw_truncated_normals, false},
    {"uniform", draw_uniform, draw_each<draw_uniform>, false},
}};

const DistributionRow& distribution_of(std::string_view kind) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const DistributionRow& r) { return r.kind == kind; });
  SHARD_CHECK(row != rows.end(), "the model knows the kind of initial value");
  return *row;
}

/// `fill(numbers)` gives all elements.
template <class Fill>
HostTensor tensor_of(const TensorType& type, const Fill& fill) {
  HostTensor tensor = zeros(type);
  std::vector<double> numbers(number_count(type));
  fill(numbers);
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
  const DistributionRow& row = distribution_of(init.kind);
  draw_ = row.draw;
  draw_all_ = row.draw_all;
  is_constant_ = row.is_constant;
}

double InitialFunction::operator()(std::int64_t index) const {
  return draw_(uniform_of(key_, index), scale_);
}

void InitialFunction::fill(std::int64_t first, std::span<double> to) const {
  for (double& x : to) x = uniform_of(key_, first++);
  draw_all_(to, scale_);
}

double initial_element(const InitialValue& init, std::uint64_t seed, std::uint64_t name_hash,
                       std::int64_t index) {
  return InitialFunction(init, seed, name_hash)(index);
}

InitialValue number_of(const InitialValue& init, DType dtype) {
  if (!info(dtype).is_complex || distribution_of(init.kind).is_constant) return init;
  InitialValue part = init;
  part.scale /= std::numbers::sqrt2;
  return part;
}

HostTensor initial_tensor(const InitialValue& init, const TensorType& type, std::uint64_t seed,
                          const std::string& name) {
  const InitialFunction function(number_of(init, type.dtype), seed, hash_name(name));
  const bool is_real_constant = function.is_constant() && info(type.dtype).is_complex;
  return tensor_of(type, [&](std::vector<double>& numbers) {
    function.fill(0, numbers);
    for (std::size_t i = 1; is_real_constant && i < numbers.size(); i += 2) numbers[i] = 0;
  });
}

HostTensor example_input(const TensorType& type, std::uint64_t seed, const std::string& name) {
  if (is_inexact(type.dtype)) return initial_tensor({"normal", 1.0}, type, seed, name);
  return tensor_of(type, [](std::vector<double>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 128);
  });
}

}  // namespace shard
