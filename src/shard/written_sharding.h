#pragma once
// Shardings that a file has as XLA's text, on a mesh.

#include "config/spec.h"
#include "shard/sharding.h"

namespace shard {

/// The sharding of an array of this rank: the text as it was written, then its edits. Throws
/// `Error`: what `read_sharding_text` raises, `unknown-mesh-axis` and `duplicate-mesh-axis` for a
/// dim that was added.
Sharding sharding_of(const Mesh& mesh, const ShardingText& text, int rank, const Location& at);

/// Some dim is split by a part of an axis, which no PartitionSpec says.
bool has_parts(const Mesh& mesh, const Sharding& sharding);

/// The effective spec with its unreduced axes; parts of axes by their own names: `x:(1)2`.
PartitionSpec written_spec(const Mesh& mesh, const Sharding& sharding);

}  // namespace shard
