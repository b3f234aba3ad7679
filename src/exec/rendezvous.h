#pragma once
// A collective of the stream, and the meeting of one group there.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/collective.h"

namespace shard {

/// The meeting of one group at one collective. It is used again every time the group comes by: the
/// counters are back at their start before any member runs on.
struct alignas(64) Rendezvous {
  std::atomic<int> arrived{0};
  /// Next segment to take. Between meetings it is beyond the last segment, so a worker that looks
  /// late takes nothing.
  std::atomic<std::int64_t> ticket{0};
  std::atomic<std::int64_t> finished{0};  ///< segments
  std::atomic<std::int64_t> elements{0};  ///< done so far
  bool is_dropped = false;  ///< by a fault of the member that says so before it arrives
  int site = 0;
  std::shared_ptr<const CollectiveWork> work;
  std::int64_t segments = 0;        ///< of `work`
  std::vector<int> devices;         ///< in the order of their coordinates
  std::vector<int> order;           ///< members by device number
  std::vector<MemberPlace> places;  ///< each written by its member when it arrives
};

/// A collective instruction: what is done, and for every device its group and place in it.
struct CollectiveSite {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string label;      ///< `all_reduce model`
  std::vector<int> axes;  ///< mesh axes, ascending
  std::int64_t element_bytes = 4;
  int counter = -1;
  std::vector<std::unique_ptr<Rendezvous>> groups;
  std::vector<int> group_of;   ///< per device
  std::vector<int> member_of;  ///< per device: its place in the group
};

/// The site `number` whose groups are given by device numbers; `work` of every group is that of
/// `work_of(group)`.
CollectiveSite make_site(
    int number, CollectiveKind kind, std::string label,
    const std::vector<std::vector<std::int64_t>>& groups, std::int64_t device_count,
    const std::function<std::shared_ptr<const CollectiveWork>(std::size_t)>& work_of);

}  // namespace shard
