#include "exec/measure.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "exec/numbers.h"
#include "exec/program_maker.h"

using namespace shard;
using namespace shard::test;

namespace {

Difference compare_numbers(const std::vector<double>& actual, const std::vector<double>& expected) {
  const TensorType type{DType::f64, {static_cast<std::int64_t>(expected.size())}};
  return compare("a", tensor(type, actual), tensor(type, expected), 0.01);
}

}  // namespace

TEST_CASE("differences are relative to the largest expected magnitude") {
  const Difference difference = compare_numbers({1, -99, 0.5}, {1, -100, 0});
  CHECK(difference.largest == doctest::Approx(0.01));
  CHECK(difference.index == 1);
  CHECK(difference.is_ok());
  CHECK(!compare_numbers({1, -98, 0}, {1, -100, 0}).is_ok());
}

TEST_CASE("where nothing but zero is expected differences are absolute") {
  CHECK(compare_numbers({0.02, 0}, {0, 0}).largest == 0.02);
}

TEST_CASE("NaN and infinities are not ok unless equal infinities were expected") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(compare_numbers({1, inf}, {1, inf}).is_ok());
  CHECK(!compare_numbers({1, inf}, {1, -inf}).is_ok());
  CHECK(!compare_numbers({1, inf}, {1, 5}).is_ok());
  CHECK(!compare_numbers({std::nan(""), 1}, {std::nan(""), 1}).is_ok());
  CHECK(compare_numbers({1, std::nan("")}, {1, 2}).index == 1);
}

TEST_CASE("timing runs as many steps as it says and leaves profiling as it was") {
  Cluster cluster(split_product(), {1});
  std::vector<int> seen;
  const Timing timing = time_steps(cluster, 3, 4, [&](int run) { seen.push_back(run); });
  CHECK(cluster.counters().steps == 2 + 3 * 4);
  CHECK(seen == std::vector<int>{0, 1, 2});
  CHECK(timing.runs == 3);
  CHECK(timing.loops == 4);
  CHECK(timing.minimum.value > 0);
  CHECK(timing.minimum <= timing.median);
  CHECK(timing.minimum <= timing.mean);
  CHECK(timing.deviation.value >= 0);
  CHECK(timing.others_cpu >= 0);
  CHECK(cluster.is_profiling());
}
