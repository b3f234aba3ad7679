#include "mesh/place_mesh.h"

#include <algorithm>

#include "mesh/device_mesh.h"
#include "mesh/mesh_sizes.h"
#include "mesh/torus.h"

namespace shard {
namespace {

// Fixed ring orders exist for slices up to this many devices; the torus rules hold beyond.
constexpr std::int64_t most_small_devices = 64;

struct Asked {
  DeviceMeshOptions within;
  HybridMeshOptions across;
};

Asked asked_of(const RulesConfig& rules, const MeshHardware& hardware) {
  Asked asked;
  asked.within.allow_split_physical_axes = rules.device_order == DeviceOrder::split;
  asked.within.contiguous_submeshes = rules.device_order == DeviceOrder::contiguous;
  asked.across.allow_split_physical_axes = asked.within.allow_split_physical_axes;
  asked.across.process_is_granule = !hardware.topology.has_slice_index;
  return asked;
}

bool is_across_slices(const MeshHardware& hardware) {
  return std::any_of(hardware.dcn.begin(), hardware.dcn.end(),
                     [](std::int64_t size) { return size > 1; });
}

Topology one_slice_of(Topology topology) {
  topology.slices = 1;
  return topology;
}

/// The axes that a mesh is assigned to; chips of two devices have an axis of their own for them.
Shape torus_of(const Topology& topology) {
  Shape torus(topology.grid.begin(), topology.grid.end());
  if (topology.cores > 1) torus.push_back(topology.cores);
  return torus;
}

/// v2 and v3 are always read as rings of cores.
bool is_placed_in_rings(const Topology& topology) {
  return topology.kind == "TPU v2" || topology.kind == "TPU v3";
}

void check_slice(const MeshHardware& hardware, const Asked& asked, const MeshOrigin& origin) {
  const Topology slice = one_slice_of(hardware.topology);
  if (slice.platform != "tpu") return;
  const bool is_small = slice.device_count() <= most_small_devices;
  if (is_small || asked.within.contiguous_submeshes) {
    create_device_mesh(hardware.ici, devices_of(slice, origin.at), asked.within, origin);
  } else if (!is_placed_in_rings(slice)) {
    check_on_torus(torus_of(slice), hardware.ici, asked.within.allow_split_physical_axes, origin);
  }
}

void check_slices(const RulesConfig& rules, const MeshHardware& hardware) {
  const Topology& topology = hardware.topology;
  if (topology.platform != "tpu" || topology.slices == 1 || is_across_slices(hardware)) return;
  const std::string axis = rules.mesh.empty() ? "data" : rules.mesh.front().name.text();
  throw Error("multi-slice", rules.devices_at,
              "'" + rules.devices + "' are " + std::to_string(topology.slices) +
                  " slices, which a slower network joins, and no axis is said to cross it",
              "say how much of an axis does, e.g. dcn: {" + axis + ": " +
                  std::to_string(topology.slices) + "}");
}

/// The order in which GPUs and CPUs are listed is that of their ids.
bool is_by_id(const MeshHardware& hardware) {
  return hardware.topology.platform != "tpu" && !is_across_slices(hardware);
}

}  // namespace

std::shared_ptr<const DevicePlaces> place_mesh(const RulesConfig& rules,
                                               const MeshHardware& hardware,
                                               const MeshOrigin& origin) {
  if (rules.device_order == DeviceOrder::listed) {
    return std::make_shared<DevicePlaces>([ids = rules.device_ids] { return ids; });
  }
  if (rules.device_order == DeviceOrder::ids || is_by_id(hardware)) return nullptr;
  const Asked asked = asked_of(rules, hardware);
  check_slices(rules, hardware);
  check_slice(hardware, asked, origin);
  return std::make_shared<DevicePlaces>([hardware, asked, origin] {
    const std::vector<Device> devices = devices_of(hardware.topology, origin.at);
    if (!is_across_slices(hardware)) {
      return create_device_mesh(hardware.ici, devices, asked.within, origin).ids;
    }
    return create_hybrid_device_mesh(hardware.ici, hardware.dcn, devices, asked.across, origin).ids;
  });
}

}  // namespace shard
