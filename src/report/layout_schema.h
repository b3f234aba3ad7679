#pragma once
// What `compare` and `check` write with --format json.

#include <string>
#include <vector>

namespace shard {

/// A JSON Schema of each, as text.
std::vector<std::string> layout_schemas();

}  // namespace shard
