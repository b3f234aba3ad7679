#include "property/planned_equals_counted.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "spmd/partition.h"

namespace shard::test {

void check_memory(const Program& program, const Cluster& cluster) {
  for (const Bytes peak : cluster.counters().peak)
    CHECK(peak.count() == program.memory.peak.count());
}

void check_bytes(const Program& program, const Cluster& cluster) {
  std::vector<std::pair<std::vector<int>, std::int64_t>> planned;
  for (const CollectiveCount& one : count_collectives(program)) {
    std::vector<int> axes;
    for (const AxisRef& ref : one.axes) axes.push_back(ref.axis);
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    const auto at = std::find_if(planned.begin(), planned.end(),
                                 [&](const auto& entry) { return entry.first == axes; });
    if (at == planned.end()) {
      planned.emplace_back(axes, one.wire.count());
    } else {
      at->second += one.wire.count();
    }
  }
  std::erase_if(planned, [](const auto& entry) { return entry.second == 0; });
  std::vector<std::pair<std::vector<int>, std::int64_t>> counted;
  for (const AxisCounter& one : cluster.counters().axes) {
    std::vector<int> axes = one.axes;
    std::sort(axes.begin(), axes.end());
    if (one.wire.count() > 0) counted.emplace_back(axes, one.wire.count());
  }
  std::sort(planned.begin(), planned.end());
  std::sort(counted.begin(), counted.end());
  CHECK(planned == counted);
}

}  // namespace shard::test
