#pragma once
// Specs as written in files and on the command line.

#include <optional>
#include <string_view>

#include "config/spec.h"
#include "text/tree.h"

namespace shard {

/// True for text that starts with `P(`: mesh axes.
bool is_partition_text(std::string_view text);

/// Reads `P(data, None)`, `P('data', None)`, `P((data, model))`, `P()`, `P(None,)`; quotes are
/// optional, `UNCONSTRAINED` is read. `at` is where the text starts. Throws `Error` `spec-syntax`
/// with the column inside the text, `not-yet` for `unreduced=` and `reduced=`.
PartitionSpec read_partition_text(std::string_view text, const Location& at);

/// A list (logical axes), `P(...)` (mesh axes), or null. Raises `spec-syntax`, `wrong-type`.
std::optional<SpecConfig> read_spec(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics);

}  // namespace shard
