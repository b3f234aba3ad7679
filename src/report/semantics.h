#pragma once
// Whose behaviour the plans follow, and the number of the JSON output's form.

#include <string_view>

namespace shard {

inline constexpr std::string_view semantics_name = "jax 0.10.2, flax 0.12.8";

/// Goes up when a key of the JSON output changes its meaning or goes away.
inline constexpr int json_schema_number = 1;

}  // namespace shard
