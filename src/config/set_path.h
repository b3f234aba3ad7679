#pragma once
// Dotted paths into a tree: `layers.0.repeat.scan: true`.

#include <string>

#include "config/keys.h"
#include "text/tree.h"

namespace shard {

/// Puts `value` where `path` says in a file of `table`'s kind. Steps are keys of maps and indices
/// of lists. Only the last step may be new, and only in a map whose keys are not the user's own
/// names. A path of one step that is a size's name means `sizes.NAME`. `path_at` is where the path
/// stands. Raises `bad-set-path`.
void set_path(TextNode& root, const KeyTable& table, const std::string& path,
              const Location& path_at, const TextNode& value, Diagnostics& diagnostics);

}  // namespace shard
