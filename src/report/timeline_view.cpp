#include "report/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/rows.h"

namespace shard {
namespace {

/// The program's instruction behind one of the stream's, or nullptr.
const Instruction* source_of(const Program& program, const TimelineInstruction& timed) {
  if (timed.index < 0) return nullptr;
  return &program.bodies[static_cast<std::size_t>(timed.body)]
              .instructions[static_cast<std::size_t>(timed.index)];
}

std::int64_t rounded_down(double value) { return static_cast<std::int64_t>(value); }

std::vector<TimelineArgument> timeline_arguments(const TimedFunction& timed,
                                                 const TimelineInstruction& one) {
  std::vector<TimelineArgument> made;
  const Instruction* const source = source_of(timed.function->program, one);
  if (source != nullptr) {
    const std::string place = one.body == 0 ? "" : fmt::format("body {}, ", one.body);
    made.push_back({"instruction", fmt::format("{}{}", place, one.index)});
    if (source->node != NodeId::none) {
      const std::string& layer = timed.function->sharded.graph.node(source->node).name;
      if (!layer.empty()) made.push_back({"layer", layer});
    }
    made.push_back({"phase", std::string(name_of(source->phase))});
  }
  if (source != nullptr && source->collective) {
    made.push_back({"payload bytes", source->collective->payload.count()});
    made.push_back({"wire bytes", source->collective->wire.count()});
    return made;
  }
  made.push_back({"bytes", rounded_down(one.bytes)});
  if (one.flops > 0) made.push_back({"flops", rounded_down(one.flops)});
  return made;
}

}  // namespace

std::vector<TimelineNames> timeline_names(const TimedFunction& timed) {
  std::vector<TimelineNames> names;
  for (const TimelineInstruction& one : timed.timeline->instructions) {
    names.push_back(
        {one.label, one.is_collective ? "collective" : "compute", timeline_arguments(timed, one)});
  }
  return names;
}

std::string track_name(const Mesh& mesh, int device) {
  std::string place;
  for (std::size_t axis = 0; axis < mesh.axes().size(); ++axis) {
    place += fmt::format("{}{} {}", place.empty() ? "" : ", ", mesh.axes()[axis].name.text(),
                         mesh.coordinate(device, mesh.full(static_cast<int>(axis))));
  }
  return fmt::format("device {}{}", device, place.empty() ? "" : " (" + place + ")");
}

std::vector<TimelineArrow> timeline_arrows(const Timeline& timeline) {
  const auto order = [&](std::size_t span) {
    return std::tuple(timeline.spans[span].begin, timeline.spans[span].device);
  };
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> ends;  // first and last to arrive
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    if (timeline.spans[i].meeting < 0) continue;
    auto& [first, last] = ends.try_emplace(timeline.spans[i].meeting, i, i).first->second;
    if (order(i) < order(first)) first = i;
    if (order(last) < order(i)) last = i;
  }
  std::vector<TimelineArrow> arrows(timeline.spans.size());
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    if (timeline.spans[i].meeting < 0) continue;
    const auto& [first, last] = ends.at(timeline.spans[i].meeting);
    arrows[i] = {i != first, i != last};
  }
  return arrows;
}

}  // namespace shard
