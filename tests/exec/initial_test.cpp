#include "exec/initial.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "exec/normal_quantile.h"
#include "exec/numbers.h"

using namespace shard;
using namespace shard::test;

namespace {

struct Statistics {
  double mean = 0, deviation = 0, smallest = 0, largest = 0;
};

Statistics statistics(const std::vector<double>& numbers) {
  Statistics s{0, 0, numbers[0], numbers[0]};
  for (const double x : numbers) s.mean += x / static_cast<double>(numbers.size());
  for (const double x : numbers) {
    s.deviation += (x - s.mean) * (x - s.mean) / static_cast<double>(numbers.size());
    s.smallest = std::min(s.smallest, x);
    s.largest = std::max(s.largest, x);
  }
  s.deviation = std::sqrt(s.deviation);
  return s;
}

std::vector<double> draw(const char* kind, double scale, std::int64_t count) {
  const InitialFunction function({kind, scale}, 7, hash_name("w"));
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(function(i));
  return numbers;
}

/// Share of standard normal numbers below x.
double normal_share(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

TEST_CASE("normal numbers have the asked mean and deviation and follow the normal distribution") {
  std::vector<double> numbers = draw("normal", 0.5, 200'000);
  const Statistics s = statistics(numbers);
  CHECK(std::fabs(s.mean) < 4 * 0.5 / std::sqrt(200'000.0));
  CHECK(s.deviation == doctest::Approx(0.5).epsilon(0.01));
  std::sort(numbers.begin(), numbers.end());
  double worst = 0;  // Kolmogorov's distance; 1.63 / sqrt(n) at one percent
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(numbers.size());
    worst = std::max(worst, std::fabs(share - normal_share(numbers[i] / 0.5)));
  }
  CHECK(worst < 1.63 / std::sqrt(200'000.0));
}

TEST_CASE(
    "truncated normal numbers have the asked deviation and stay inside two of the untruncated") {
  const Statistics s = statistics(draw("truncated_normal", 0.03, 200'000));
  CHECK(s.deviation == doctest::Approx(0.03).epsilon(0.01));
  const double edge = 2 * 0.03 / 0.87962566103423978;
  CHECK(s.smallest >= -edge);
  CHECK(s.largest <= edge);
  CHECK(s.largest > 0.99 * edge);
}

TEST_CASE("quantiles of an array have the bits of one by one in the middle and in both tails") {
  std::vector<double> p = {
      0x1p-53,         1e-15, 1.3e-11,   1.4e-11,      1.9e-11,     2.1e-11,     1e-5, 0.075,
      0.0750000000001, 0.5,   0.9249999, 0.9250000001, 1 - 1.3e-11, 1 - 0x1p-53, 0.25, 0.925};
  const InitialFunction uniform({"uniform", 0.5}, 3, hash_name("p"));
  for (std::int64_t i = 0; i < 20'000; ++i) p.push_back(uniform(i) + 0.5);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, p.size()}) {
    std::vector<double> all(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(count)), each = all;
    normal_quantiles(all.data(), all.size());
    for (double& x : each) x = normal_quantile(x);
    CHECK(all == each);
  }
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-15));
  CHECK(normal_quantile(1e-20) == doctest::Approx(-9.262340089798408).epsilon(1e-15));
}

TEST_CASE("filling gives the elements one by one from anywhere on") {
  for (const char* kind : {"zeros", "ones", "constant", "normal", "truncated_normal", "uniform"}) {
    CAPTURE(kind);
    const InitialFunction function({kind, 0.3}, 7, hash_name("w"));
    std::vector<double> filled(1500), each(1500);
    function.fill(123'456, filled);
    for (std::size_t i = 0; i < each.size(); ++i)
      each[i] = function(123'456 + static_cast<std::int64_t>(i));
    CHECK(filled == each);
  }
}

TEST_CASE("uniform numbers fill their interval") {
  const Statistics s = statistics(draw("uniform", 2.0, 100'000));
  CHECK(s.smallest >= -2.0);
  CHECK(s.largest < 2.0);
  CHECK(s.deviation == doctest::Approx(2.0 / std::sqrt(3.0)).epsilon(0.01));
}

TEST_CASE("fixed initial values are what they say") {
  CHECK(draw("zeros", 5, 3) == std::vector<double>{0, 0, 0});
  CHECK(draw("ones", 5, 3) == std::vector<double>{1, 1, 1});
  CHECK(draw("constant", 5, 3) == std::vector<double>{5, 5, 5});
}

TEST_CASE("initial values depend on seed and name and index and on nothing else") {
  const InitialValue normal{"normal", 1.0};
  const std::uint64_t w = hash_name("params/w"), v = hash_name("params/v");
  const double x = initial_element(normal, 3, w, 1000);
  CHECK(initial_element(normal, 3, w, 1000) == x);
  CHECK(initial_element(normal, 4, w, 1000) != x);
  CHECK(initial_element(normal, 3, v, 1000) != x);
  CHECK(initial_element(normal, 3, w, 1001) != x);
  const HostTensor all = initial_tensor(normal, {DType::f64, {50, 40}}, 3, "params/w");
  CHECK(numbers_of(all)[1000] == x);
}

TEST_CASE("the hash of names is FNV-1a") {
  CHECK(hash_name("") == 0xcbf29ce484222325U);
  CHECK(hash_name("a") == 0xaf63dc4c8601ec8cU);
  CHECK(hash_name("foobar") == 0x85944171f73967e8U);
}

TEST_CASE("example inputs are normal floats and counting integers") {
  CHECK(numbers_of(example_input({DType::i32, {130}}, 0, "tokens"))[129] == 1);
  const Statistics s = statistics(numbers_of(example_input({DType::f32, {100, 1000}}, 0, "x")));
  CHECK(std::fabs(s.mean) < 0.02);
  CHECK(s.deviation == doctest::Approx(1.0).epsilon(0.02));
}
