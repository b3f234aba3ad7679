#pragma once
// Comparing a run with its reference, and timing steps.

#include <functional>
#include <string>
#include <vector>

#include "exec/cluster.h"

namespace shard {

/// The largest difference between two arrays relative to the reference's largest magnitude.
struct Difference {
  std::string name;
  double largest = 0;
  std::int64_t index = 0;  ///< row-major, of the largest difference
  double tolerance = 0;
  bool has_non_finite = false;
  bool is_ok() const { return !has_non_finite && largest <= tolerance; }
};

/// `tolerance` is relative to the largest finite magnitude of `expected`, or `least` if that is
/// larger (absolute where all is 0). Equal infinities are equal; any other infinity or NaN is not
/// ok.
Difference compare(const std::string& name, const HostTensor& actual, const HostTensor& expected,
                   double tolerance, double least = 0);

/// Mean, standard deviation over runs (of the population, as timeit prints it), median and minimum,
/// per step.
struct Timing {
  int runs = 0;
  int loops = 0;
  Seconds mean, deviation, median, minimum;
  double others_cpu = 0;  ///< cores kept busy by other processes meanwhile
  double stolen_cpu = 0;  ///< cores that the host of a virtual machine gave to others meanwhile
};

/// Warms up (two steps), then `runs` runs of `loops` steps. `progress` (may be empty) is called
/// between runs. Profiling is off meanwhile.
Timing time_steps(Cluster& cluster, int runs, int loops, const std::function<void(int)>& progress);

}  // namespace shard
