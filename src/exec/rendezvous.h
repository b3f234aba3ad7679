#pragma once
// A collective of the stream, and the meeting of one group there.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/collective.h"
#include "exec/hosted_collective.h"

namespace shard {

/// The meeting of one group at one collective. It is used again every time the group comes by: the
/// counters are back at their start before any member runs on. Where the group is on several hosts,
/// those of its members meet that are here, and the work is done in stages.
struct alignas(64) Rendezvous {
  std::atomic<int> arrived{0};
  /// Next segment to take. Between meetings it is beyond the last segment, so a worker that looks
  /// late takes nothing.
  std::atomic<std::int64_t> ticket{0};
  std::atomic<std::int64_t> finished{0};  ///< segments
  std::atomic<std::int64_t> elements{0};  ///< done so far
  bool is_dropped = false;  ///< by a fault of the member that says so before it arrives
  bool is_skipped = false;  ///< dropped, but other hosts wait for this one's bytes
  int site = 0;
  std::shared_ptr<const CollectiveWork> work;  ///< nothing when `hosted` does it
  std::shared_ptr<HostedCollective> hosted;
  int stage = 0;                    ///< of `hosted`; written while no segment is to be had
  int tag = 0;                      ///< of the exchange after stage 0; later stages count up
  std::int64_t segments = 0;        ///< of each stage
  std::vector<int> here;            ///< the devices that meet here
  std::vector<int> devices;         ///< in the order of their coordinates
  std::vector<int> order;           ///< members by device number
  std::vector<MemberPlace> places;  ///< each written by its member when it arrives
  std::vector<std::chrono::steady_clock::time_point> arrivals;  ///< likewise, of profiled steps
  std::chrono::steady_clock::time_point met;                    ///< of the last arrival

  int stages() const { return hosted ? hosted->stages() : 1; }
  SegmentWork run(std::int64_t segment, const SegmentHelp& help) {
    return hosted ? hosted->run(stage, segment, places)
                  : work->run_with(help, segment, places, order);
  }
  /// True on the one host that counts the meeting.
  bool is_counted_here() const {
    const int first = devices[static_cast<std::size_t>(order.front())];
    return std::find(here.begin(), here.end(), first) != here.end();
  }
};

/// A collective instruction: what is done, and for every device its group and place in it.
struct CollectiveSite {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string label;      ///< `all_reduce model`
  std::vector<int> axes;  ///< mesh axes, ascending
  std::int64_t element_bytes = 4;
  int counter = -1;
  double flops = 0;  ///< of what each member does with the result at once
  int body = 0;      ///< of the program's instruction
  int index = -1;    ///< in the body
  std::vector<std::unique_ptr<Rendezvous>> groups;
  std::vector<int> group_of;   ///< per device
  std::vector<int> member_of;  ///< per device: its place in the group
};

/// What of a site is on this host.
struct SitePart {
  HostDevices devices;
  int self = 0;  ///< the host's number
  int hosts = 1;
  int first_tag = 0;  ///< of those that the site may use: `tags_of_group` for each group
};
constexpr int tags_of_group = 2;

/// The site `number` whose groups are given by device numbers; `work` of every group is that of
/// `work_of(group)`.
CollectiveSite make_site(
    int number, CollectiveKind kind, std::string label,
    const std::vector<std::vector<std::int64_t>>& groups, std::int64_t device_count,
    const std::function<std::shared_ptr<const CollectiveWork>(std::size_t)>& work_of);

/// The same of those groups alone that have devices here.
struct GroupWork {
  std::shared_ptr<const CollectiveWork> work;  ///< of a group that is here as a whole
  std::shared_ptr<HostedCollective> hosted;    ///< of another
};
CollectiveSite make_site_part(int number, CollectiveKind kind, std::string label,
                              const std::vector<std::vector<std::int64_t>>& groups,
                              std::int64_t device_count, const SitePart& part,
                              const std::function<GroupWork(std::size_t)>& work_of);

}  // namespace shard
