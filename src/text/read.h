#pragma once
// Bytes to located trees.

#include <string>
#include <string_view>

#include "text/tree.h"

namespace shard {

/// Reads one YAML document. `file` is the path used in locations.
/// Throws `Error`: `yaml-syntax` (yaml-cpp's own place and words; a value that starts with `P(` or
/// a type such as `f32[` unquoted inside `{ }` or `[ ]` gets the hint to quote it), `yaml-tab` (a
/// tab in the indentation), `duplicate-key` (every duplicate, in one run), `merge-key` (`<<`),
/// `too-deep` (nesting over 100), `not-a-document` (two documents in one file).
TextNode read_yaml(const std::string& file, std::string_view text);

/// Reads one JSON document with line and column of every value. Throws `Error` `json-syntax`.
TextNode read_json(const std::string& file, std::string_view text);

/// The tree as YAML text that reads back to an equal tree (flow style below depth `block_depth`).
std::string write_yaml(const TextNode& node, int block_depth = 6);

}  // namespace shard
