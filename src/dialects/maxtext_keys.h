#pragma once
// The keys of MaxText's configurations that say something about sharding.

#include <string>
#include <string_view>

namespace shard {

/// True for the keys that are read: rules, mesh, sizes, hardware, and what leads to other files.
bool is_maxtext_key(std::string_view key);

/// The stem of the keys that size a mesh axis: `pipeline` for `stage`, `tensor` for `model`, the
/// axis' own name otherwise; empty for an axis whose size is always 1.
std::string parallelism_of(std::string_view mesh_axis);

/// `ici_fsdp_parallelism`
std::string parallelism_key(std::string_view group, std::string_view parallelism);

}  // namespace shard
