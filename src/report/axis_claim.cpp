// What a step along a mesh axis is on the wires.

#include <algorithm>
#include <set>

#include "mesh/device_place.h"
#include "report/device_ids.h"
#include "report/mesh_drawing.h"

namespace shard {
namespace {

/// What differs between neighbours on one axis.
struct Steps {
  std::set<int> chip_axes;  ///< 0 x, 1 y, 2 z
  bool crosses_cores = false;
  bool crosses_hosts = false;
  bool crosses_slices = false;
  bool stays_in_slice = false;  ///< with some of the steps
  std::int64_t most_links = 0;
  std::int64_t most_closing_links = 0;  ///< from the last device back to the first
};

void look_at(const Topology& topology, const DevicePlace& from, const DevicePlace& to,
             Steps& steps) {
  for (int k = 0; k < 3; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (from.chip[at] != to.chip[at]) steps.chip_axes.insert(k);
  }
  steps.crosses_cores = steps.crosses_cores || from.core != to.core;
  steps.crosses_hosts = steps.crosses_hosts || from.host != to.host;
  steps.crosses_slices = steps.crosses_slices || from.slice != to.slice;
  if (from.slice == to.slice) {
    steps.stays_in_slice = true;
    steps.most_links = std::max(steps.most_links, link_count(topology, from, to));
  }
}

Steps steps_along(const Mesh& mesh, int axis) {
  const Topology& topology = mesh.hardware()->topology;
  const std::int64_t size = mesh.size(axis);
  const std::int64_t stride = stride_of(mesh, mesh.full(axis));
  const auto place = [&](std::int64_t position) {
    return place_of(topology, mesh.device_id(position));
  };
  Steps steps;
  for (std::int64_t position = 0; position < mesh.device_count(); ++position) {
    const std::int64_t coordinate = position / stride % size;
    if (coordinate + 1 < size) {
      look_at(topology, place(position), place(position + stride), steps);
    } else {
      const DevicePlace first = place(position - coordinate * stride);
      const std::int64_t links = link_count(topology, place(position), first);
      steps.most_closing_links = std::max(steps.most_closing_links, links);
    }
  }
  return steps;
}

/// ` along x, y`.
std::string way_text(const Steps& steps) {
  std::string axes;
  for (const int k : steps.chip_axes) axes += (axes.empty() ? "" : ", ") + std::string(1, "xyz"[k]);
  if (axes.empty() && steps.crosses_cores) return " along the cores of a chip";
  return axes.empty() ? "" : " along " + axes;
}

std::string link_text(const Steps& steps, std::int64_t size) {
  if (steps.chip_axes.empty()) return "";
  if (steps.most_links != 1) {
    return ": up to " + std::to_string(steps.most_links) + " links a step";
  }
  const bool is_ring = size > 2 && !steps.crosses_slices && steps.most_closing_links == 1;
  return is_ring ? ": one link a step, closed to a ring" : ": one link a step";
}

}  // namespace

std::string axis_claim(const Mesh& mesh, int axis) {
  const MeshAxisInfo& info = mesh.axes()[static_cast<std::size_t>(axis)];
  std::string text = info.name.text() + " " + std::to_string(info.size);
  if (mesh.hardware() == nullptr || info.size == 1) return text;
  const Steps steps = steps_along(mesh, axis);
  const Topology& topology = mesh.hardware()->topology;
  const std::string word = slice_word(topology);
  const std::string across = word == "process" ? " across processes" : " across " + word + "s";
  if (topology.platform == "tpu") {
    text += way_text(steps) + link_text(steps, info.size);
    return steps.crosses_slices ? text + (steps.chip_axes.empty() ? "" : ", also") + across : text;
  }
  if (!steps.crosses_slices) return text + " inside a " + word;
  return text + (steps.stays_in_slice ? " inside a " + word + " and" : "") + across;
}

}  // namespace shard
