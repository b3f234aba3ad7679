#pragma once
// Putting a mesh on hardware: can it be done, and in which order the devices then stand.

#include <memory>

#include "config/rules_config.h"
#include "mesh/device_places.h"
#include "mesh/mesh.h"

namespace shard {

/// The order of the devices for what the rules ask (`device_order`), or nullptr for the order of
/// their ids. The checks are done now and cost the same for any number of devices, the order is
/// worked out later. Throws `Error`: `topology-unassignable`, `no-contiguous-submeshes`,
/// `multi-slice` (TPU slices without `dcn`).
std::shared_ptr<const DevicePlaces> place_mesh(const RulesConfig& rules,
                                               const MeshHardware& hardware,
                                               const MeshOrigin& origin);

}  // namespace shard
