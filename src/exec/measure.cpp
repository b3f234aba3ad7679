#include "exec/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "base/check.h"
#include "exec/element.h"
#include "exec/machine_load.h"

namespace shard {
namespace {

using Clock = std::chrono::steady_clock;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Timing timing_of(const std::vector<double>& per_step) {
  const double count = static_cast<double>(per_step.size());
  const double mean = std::accumulate(per_step.begin(), per_step.end(), 0.0) / count;
  double squares = 0;
  for (const double value : per_step) squares += (value - mean) * (value - mean);
  Timing timing;
  timing.mean = {mean};
  timing.deviation = {std::sqrt(squares / count)};
  timing.median = {median_of(per_step)};
  timing.minimum = {*std::min_element(per_step.begin(), per_step.end())};
  return timing;
}

}  // namespace

Difference compare(const std::string& name, const HostTensor& actual, const HostTensor& expected,
                   double tolerance, double least) {
  SHARD_CHECK(actual.type == expected.type, "arrays of one type are compared");
  const std::size_t count = number_count(expected.type);
  std::vector<double> a(count), e(count);
  to_doubles(actual.type.dtype, actual.bytes.data(), a.data(), count);
  to_doubles(expected.type.dtype, expected.bytes.data(), e.data(), count);
  Difference difference;
  difference.name = name;
  difference.tolerance = tolerance;
  double largest_expected = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool are_equal_infinities = std::isinf(e[i]) && a[i] == e[i];
    if (are_equal_infinities) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) {
      if (!difference.has_non_finite) difference.index = static_cast<std::int64_t>(i);
      difference.has_non_finite = true;
      continue;
    }
    largest_expected = std::max(largest_expected, std::fabs(e[i]));
    const double distance = std::fabs(a[i] - e[i]);
    if (distance <= difference.largest || difference.has_non_finite) continue;
    difference.largest = distance;
    difference.index = static_cast<std::int64_t>(i);
  }
  if (largest_expected > 0) difference.largest /= std::max(largest_expected, least);
  if (info(expected.type.dtype).is_complex) difference.index /= 2;
  return difference;
}

Timing time_steps(Cluster& cluster, int runs, int loops, const std::function<void(int)>& progress) {
  SHARD_CHECK(runs > 0 && loops > 0, "something is timed");
  const bool was_profiling = cluster.is_profiling();
  cluster.set_profiling(false);
  cluster.run();
  cluster.run();
  std::vector<double> per_step;
  double busy = 0, stolen = 0, wall = 0;
  for (int run = 0; run < runs; ++run) {
    if (progress) progress(run);
    const LoadWatch watch;
    const Clock::time_point start = Clock::now();
    for (int loop = 0; loop < loops; ++loop) cluster.run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const OtherLoad others = watch.others();
    busy += others.busy * seconds;
    stolen += others.stolen * seconds;
    wall += seconds;
    per_step.push_back(seconds / loops);
  }
  cluster.set_profiling(was_profiling);
  Timing timing = timing_of(per_step);
  timing.runs = runs;
  timing.loops = loops;
  timing.others_cpu = busy / wall;
  timing.stolen_cpu = stolen / wall;
  return timing;
}

}  // namespace shard
