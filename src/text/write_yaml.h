#pragma once
// Located trees back to YAML text.

#include <functional>
#include <string>
#include <vector>

#include "text/tree.h"

namespace shard {

/// The tree as YAML text that reads back to an equal tree. Containers deeper than `block_depth` are
/// written in one line unless a plain scalar in them would need quotes there.
std::string write_yaml(const TextNode& node, int block_depth = 6);

/// A line of written YAML and where what it says was written: its key, or its item.
struct YamlLine {
  std::string text;
  Location at;
};

/// The tree line by line. `may_be_one_line` is asked for each container that could be written in
/// one line (`depth` 0 is the root).
std::vector<YamlLine> write_yaml_lines(
    const TextNode& node,
    const std::function<bool(const TextNode& node, int depth)>& may_be_one_line);

/// The tree in YAML's one-line form, whatever its size.
std::string write_yaml_flow(const TextNode& node);

}  // namespace shard
