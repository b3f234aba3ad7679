#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "exec/cluster.h"

namespace shard {
namespace {

int cores_of_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Whole cores of the cgroup v2 quota, rounded up; a large number when there is none.
int cores_of_quota() {
  const int no_quota = 1 << 20;
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return no_quota;
  return std::max(1, static_cast<int>((std::stod(quota) + period - 1) / period));
}

}  // namespace

int allowed_cores() { return std::min(cores_of_affinity(), cores_of_quota()); }

}  // namespace shard
