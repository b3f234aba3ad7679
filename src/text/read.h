#pragma once
// Bytes to located trees.

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "text/tree.h"

namespace shard {

/// Reads one YAML document. `file` is the path used in locations. Anchors and aliases are written
/// out; an aliased node keeps the place where it was written.
/// Throws `Error`: `yaml-syntax` (yaml-cpp's own place and words; a value that starts with `P(` or
/// a type such as `f32[` unquoted inside `{ }` or `[ ]` gets the hint to quote it), `yaml-tab` (a
/// tab in the indentation), `duplicate-key` (every duplicate, in one run), `merge-key` (`<<`),
/// `too-deep` (nesting over 100), `too-large` (over 4 million nodes), `not-a-document` (two
/// documents in one file).
TextNode read_yaml(const std::string& file, std::string_view text);

/// Reads one YAML document of somebody else's program, as PyYAML does: a key given twice takes its
/// last value (the warning `duplicate-key` goes to `diagnostics`), tags are not looked at. The rest
/// is as above.
TextNode read_foreign_yaml(const std::string& file, std::string_view text,
                           Diagnostics& diagnostics);

/// Reads one JSON document with line and column of every value; numbers keep their text. Throws
/// `Error` `json-syntax`, `duplicate-key`, `too-deep`, `too-large`.
TextNode read_json(const std::string& file, std::string_view text);

}  // namespace shard
