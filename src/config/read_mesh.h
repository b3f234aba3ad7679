#pragma once
// The mesh of a rules file and what is said about its devices.

#include <vector>

#include "config/rules_config.h"
#include "text/tree.h"

namespace shard {

/// `{data: 2, model: 4}`; -1 is a size to be filled in. Raises `bad-name`, `bad-size`,
/// `wrong-type`, `size-overflow`; `what` is `mesh axis` or `dcn axis`.
std::vector<MeshAxisConfig> read_mesh_axes(const TextNode& map, std::string_view what,
                                           Diagnostics& diagnostics);

/// `explicit` or `{fsdp: explicit, model: auto}`. Raises `unknown-word`, `unknown-mesh-axis` (when
/// `mesh` is not empty and lacks the axis).
std::vector<AxisTypeConfig> read_axis_types(const TextNode& node,
                                            const std::vector<MeshAxisConfig>& mesh,
                                            Diagnostics& diagnostics);

/// A word (`auto`, `split`, `contiguous`, `ids`) or a list of device ids. Raises `unknown-word`,
/// `bad-device-id`.
void read_device_order(const TextNode& node, RulesConfig& rules, Diagnostics& diagnostics);

}  // namespace shard
