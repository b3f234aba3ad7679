#pragma once
// Device lists from the short descriptions that recordings of mesh functions use.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "mesh/device.h"

namespace shard::test {

/// The list of `{"platform", "kind", "topology" or "count", "cores", "slices", "origin", "host",
/// "drop", "coords", "order", "processes", "slice_attribute"}`: ids count slice, z, y, x, core.
std::vector<Device> described_devices(const nlohmann::json& description);

/// CPU devices 0 .. count-1 of one process.
std::vector<Device> cpu_devices(std::int64_t count);

}  // namespace shard::test
