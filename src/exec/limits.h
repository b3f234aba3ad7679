#pragma once
// What this machine can do at best, measured: figures to hold a run to.

#include <istream>
#include <string>

#include "exec/worker_pool.h"

namespace shard {

/// With all workers of a run busy.
struct MachineLimits {
  double product_flops = 0;  ///< per second, of float32 products with many rows
  double copy_bytes = 0;     ///< read and written per second by copies in memory
};

/// Takes about a second or two; medians of several rounds.
MachineLimits measure_limits(WorkerPool& pool);
double measure_products(WorkerPool& pool);
double measure_copies(WorkerPool& pool);

/// What tells machines apart, from the form of /proc/cpuinfo: the processor's name and the numbers
/// of its kind. `unknown processor` where the text has none.
std::string processor_name(std::istream& text);
/// Of this machine.
std::string processor_name();

}  // namespace shard
