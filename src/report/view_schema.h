#pragma once
// What `plan --by-rule` and the trace of `--dump-stages` write as JSON.

#include <string>
#include <vector>

namespace shard {

/// A JSON Schema of each, as text.
std::vector<std::string> view_schemas();

}  // namespace shard
