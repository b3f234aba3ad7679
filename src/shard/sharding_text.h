#pragma once
// Shardings as the compilers write them, read back on a mesh (spec section 7).
//
//   {devices=[2,4]<=[8]}                        XLA: tiles, devices as positions in the mesh
//   {replicated}  {unreduced}
//   <@mesh, [{"data"}, {"model":(1)2, ?}]>      Shardy; `#sdy.sharding` may stand before it

#include <string_view>

#include "shard/hlo_sharding.h"
#include "shard/sharding.h"

namespace shard {

/// Text that starts like one of the two forms.
bool is_sharding_text(std::string_view text);

/// Reads either form for an array of this rank. Throws `Error`: `spec-syntax` (with the column),
/// `unknown-mesh-axis`, `duplicate-mesh-axis`, `bad-sub-axis`, `rank-mismatch`, `mesh-size`
/// (another number of devices), `mesh-mismatch` (tiles that no axes or sub-axes of the mesh make).
Sharding read_sharding_text(const Mesh& mesh, std::string_view text, int rank, const Location& at);

/// The axes and sub-axes that make these tiles; nothing when the mesh has none. The sharding is for
/// as many devices as the mesh has and not manual.
std::optional<Sharding> sharding_on(const Mesh& mesh, const HloSharding& tiles, int rank);

}  // namespace shard
