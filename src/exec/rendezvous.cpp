#include "exec/rendezvous.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shard {

CollectiveSite make_site(
    int number, CollectiveKind kind, std::string label,
    const std::vector<std::vector<std::int64_t>>& groups, std::int64_t device_count,
    const std::function<std::shared_ptr<const CollectiveWork>(std::size_t)>& work_of) {
  CollectiveSite site;
  site.kind = kind;
  site.label = std::move(label);
  site.group_of.assign(static_cast<std::size_t>(device_count), -1);
  site.member_of.assign(static_cast<std::size_t>(device_count), -1);
  for (const std::vector<std::int64_t>& group : groups) {
    auto meeting = std::make_unique<Rendezvous>();
    meeting->site = number;
    meeting->work = work_of(site.groups.size());
    meeting->segments = meeting->work->segment_count();
    for (const std::int64_t device : group) {
      site.group_of[static_cast<std::size_t>(device)] = static_cast<int>(site.groups.size());
      site.member_of[static_cast<std::size_t>(device)] = static_cast<int>(meeting->devices.size());
      meeting->devices.push_back(static_cast<int>(device));
    }
    meeting->places.resize(group.size());
    meeting->order.resize(group.size());
    std::iota(meeting->order.begin(), meeting->order.end(), 0);
    std::sort(meeting->order.begin(), meeting->order.end(), [&](int a, int b) {
      return meeting->devices[static_cast<std::size_t>(a)] <
             meeting->devices[static_cast<std::size_t>(b)];
    });
    site.groups.push_back(std::move(meeting));
  }
  return site;
}

}  // namespace shard
