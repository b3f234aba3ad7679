#include "exec/rendezvous.h"

#include <numeric>
#include <utility>

namespace shard {
namespace {

std::unique_ptr<Rendezvous> meeting_of_group(const std::vector<std::int64_t>& group,
                                             const HostDevices& here, GroupWork work) {
  auto meeting = std::make_unique<Rendezvous>();
  for (const std::int64_t device : group) {
    const int number = static_cast<int>(device);
    meeting->devices.push_back(number);
    if (here.has(number)) meeting->here.push_back(number);
  }
  meeting->work = std::move(work.work);
  meeting->hosted = std::move(work.hosted);
  meeting->segments =
      meeting->hosted ? meeting->hosted->segment_count() : meeting->work->segment_count();
  meeting->places.resize(group.size());
  meeting->arrivals.resize(group.size());
  meeting->order.resize(group.size());
  std::iota(meeting->order.begin(), meeting->order.end(), 0);
  std::sort(meeting->order.begin(), meeting->order.end(), [&](int a, int b) {
    return meeting->devices[static_cast<std::size_t>(a)] <
           meeting->devices[static_cast<std::size_t>(b)];
  });
  return meeting;
}

}  // namespace

CollectiveSite make_site(
    int number, CollectiveKind kind, std::string label,
    const std::vector<std::vector<std::int64_t>>& groups, std::int64_t device_count,
    const std::function<std::shared_ptr<const CollectiveWork>(std::size_t)>& work_of) {
  const SitePart all{{0, static_cast<int>(device_count)}};
  return make_site_part(number, kind, std::move(label), groups, device_count, all,
                        [&](std::size_t group) {
                          return GroupWork{work_of(group), nullptr};
                        });
}

CollectiveSite make_site_part(int number, CollectiveKind kind, std::string label,
                              const std::vector<std::vector<std::int64_t>>& groups,
                              std::int64_t device_count, const SitePart& part,
                              const std::function<GroupWork(std::size_t)>& work_of) {
  CollectiveSite site;
  site.kind = kind;
  site.label = std::move(label);
  site.group_of.assign(static_cast<std::size_t>(device_count), -1);
  site.member_of.assign(static_cast<std::size_t>(device_count), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<std::int64_t>& group = groups[g];
    const bool meets_here = std::any_of(group.begin(), group.end(), [&](std::int64_t device) {
      return part.devices.has(static_cast<int>(device));
    });
    if (!meets_here) continue;
    auto meeting = meeting_of_group(group, part.devices, work_of(g));
    meeting->site = number;
    meeting->tag = part.first_tag + tags_of_group * static_cast<int>(g);
    for (std::size_t member = 0; member < group.size(); ++member) {
      const std::size_t device = static_cast<std::size_t>(group[member]);
      site.group_of[device] = static_cast<int>(site.groups.size());
      site.member_of[device] = static_cast<int>(member);
    }
    site.groups.push_back(std::move(meeting));
  }
  return site;
}

}  // namespace shard
