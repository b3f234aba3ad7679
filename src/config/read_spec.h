#pragma once
// Specs as written in files and on the command line.

#include <optional>
#include <string_view>

#include "config/spec.h"
#include "text/tree.h"

namespace shard {

/// True for text that starts with `P(`: mesh axes.
bool is_partition_text(std::string_view text);

/// True for text that starts with `{`: a sharding of XLA. Not quoted it is a map in YAML.
bool is_tiles_text(std::string_view text);

/// Reads `P(data, None)`, `P('data', None)`, `P((data, model))`, `P()`, `P(None,)`,
/// `P(UNCONSTRAINED)`, `P(x, unreduced={y}, reduced={z})`; quotes are optional. `at` is where the
/// text starts. Throws `Error` `spec-syntax` with the column inside the text; also for an axis that
/// is in two of the dims, `unreduced` and `reduced`.
PartitionSpec read_partition_text(std::string_view text, const Location& at);

/// A list (logical axes; an item may also be UNCONSTRAINED or a list of mesh axes, which no rule is
/// asked for), `P(...)` or Shardy's text (mesh axes), XLA's text (kept as it is), or null. Raises
/// `spec-syntax`, `wrong-type`.
std::optional<SpecConfig> read_spec(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics);

}  // namespace shard
