#pragma once
// The timelines of a run as Perfetto shows them: a process per function, a track per device, a
// slice per instruction, arrows from member to member of a collective. Two forms of one file: JSON,
// which other viewers read too, and the protobuf of Perfetto, which is smaller.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exec/timeline.h"
#include "report/plan.h"

namespace shard {

/// A step of one function; both are looked at only.
struct TimedFunction {
  std::string title;  ///< `train step`
  const PlannedFunction* function = nullptr;
  const Timeline* timeline = nullptr;
};

struct TimelineArgument {
  std::string name;
  std::variant<std::int64_t, std::string> value;
};

/// What all slices of one instruction have in common.
struct TimelineNames {
  std::string name;      ///< `dot`, `all_reduce model`
  std::string category;  ///< `compute`, `collective`
  std::vector<TimelineArgument> arguments;
};

/// One per instruction of the timeline.
std::vector<TimelineNames> timeline_names(const TimedFunction& timed);

/// `device 5 (data 1, model 1)`.
std::string track_name(const Mesh& mesh, int device);

/// Whether an arrow of its meeting comes to a span and leaves it: from the member that arrived
/// first over those that came later to the last.
struct TimelineArrow {
  bool comes = false;
  bool leaves = false;
};
/// One per span of the timeline.
std::vector<TimelineArrow> timeline_arrows(const Timeline& timeline);

/// The file for `functions`, one after the other on one axis of time.
std::string timeline_json(const std::vector<TimedFunction>& functions);
std::string timeline_protobuf(const std::vector<TimedFunction>& functions);

}  // namespace shard
