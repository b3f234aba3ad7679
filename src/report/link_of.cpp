#include "report/link_of.h"

#include "report/device_ids.h"

namespace shard {
namespace {

/// The member of the position's group that comes first.
std::int64_t leader_of(const Mesh& mesh, std::int64_t position, const std::vector<AxisRef>& axes) {
  std::int64_t leader = position;
  for (const AxisRef& ref : axes) leader -= mesh.coordinate(position, ref) * stride_of(mesh, ref);
  return leader;
}

bool crosses_slices(const Mesh& mesh, const Topology& topology, const std::vector<AxisRef>& axes) {
  if (topology.slices == 1) return false;
  const auto slice_of = [&](std::int64_t position) {
    return mesh.device_id(position) / topology.devices_per_slice();
  };
  for (std::int64_t position = 0; position < mesh.device_count(); ++position) {
    if (slice_of(position) != slice_of(leader_of(mesh, position, axes))) return true;
  }
  return false;
}

}  // namespace

std::optional<LinkClass> link_of(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  const MeshHardware* const hardware = mesh.hardware();
  if (hardware == nullptr) return {};
  if (crosses_slices(mesh, hardware->topology, axes)) return LinkClass::dcn;
  return hardware->topology.platform == "tpu" ? LinkClass::ici : LinkClass::node;
}

}  // namespace shard
