#include "exec/timeline.h"

#include <map>
#include <tuple>
#include <utility>

namespace shard {

void number_meetings(std::vector<TimelineSpan>& spans) {
  // A group's members come to an instruction equally often, and meet there each time.
  std::map<std::pair<int, int>, std::int64_t> visits;  // by device and instruction
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> numbers;
  for (TimelineSpan& span : spans) {
    if (span.meeting < 0) continue;
    const std::int64_t visit = visits[{span.device, span.instruction}]++;
    const auto next = static_cast<std::int64_t>(numbers.size());
    const std::tuple meeting(span.instruction, span.meeting, visit);
    span.meeting = numbers.emplace(meeting, next).first->second;
  }
}

}  // namespace shard
