#pragma once
// Who decides how arrays are split over an axis of the mesh.

#include <optional>
#include <string>
#include <string_view>

namespace shard {

/// The compiler, the types of the program, or the user inside a `shard_map` body.
enum class AxisType { automatic, explicit_types, manual };

/// `Auto`, `Explicit`, `Manual`.
std::string to_string(AxisType type);

/// Reads `auto` or `Auto` and so on; nothing for another word.
std::optional<AxisType> axis_type_named(std::string_view word);

}  // namespace shard
