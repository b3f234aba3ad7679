#pragma once
// Which wires a collective needs.

#include <optional>
#include <vector>

#include "check/layout_record.h"
#include "mesh/mesh.h"

namespace shard {

/// The slowest link that some group over these axes has to cross; nothing when the rules do not
/// name the hardware. Looks at every device where there is more than one slice.
std::optional<LinkClass> link_of(const Mesh& mesh, const std::vector<AxisRef>& axes);

}  // namespace shard
