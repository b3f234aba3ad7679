#include "property/planned_equals_counted.h"

#include <algorithm>
#include <utility>

#include "spmd/partition.h"

namespace shard::test {

namespace {

using BytesByAxes = std::vector<std::pair<std::vector<int>, std::int64_t>>;

BytesByAxes planned_bytes(const Program& program) {
  BytesByAxes planned;
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
  std::sort(planned.begin(), planned.end());
  return planned;
}

BytesByAxes counted_bytes(const Cluster& cluster) {
  BytesByAxes counted;
  for (const AxisCounter& one : cluster.counters().axes) {
    std::vector<int> axes = one.axes;
    std::sort(axes.begin(), axes.end());
    if (one.wire.count() > 0) counted.emplace_back(axes, one.wire.count());
  }
  std::sort(counted.begin(), counted.end());
  return counted;
}

std::string text_of(const BytesByAxes& bytes) {
  std::string text;
  for (const auto& [axes, wire] : bytes) {
    for (const int axis : axes) text += "axis " + std::to_string(axis) + " ";
    text += std::to_string(wire) + " B; ";
  }
  return text;
}

}  // namespace

std::vector<std::string> differences_from_plan(const Program& program, const Cluster& cluster) {
  std::vector<std::string> lines;
  const auto& peaks = cluster.counters().peak;
  for (std::size_t device = 0; device < peaks.size(); ++device) {
    if (peaks[device].count() == program.memory.peak.count()) continue;
    lines.push_back("device " + std::to_string(device) + ": peak of " +
                    std::to_string(peaks[device].count()) + " B, planned " +
                    std::to_string(program.memory.peak.count()));
  }
  const BytesByAxes planned = planned_bytes(program), counted = counted_bytes(cluster);
  if (planned != counted)
    lines.push_back("bytes counted: " + text_of(counted) + "planned: " + text_of(planned));
  return lines;
}

}  // namespace shard::test
