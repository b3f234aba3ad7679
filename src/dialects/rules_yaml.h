#pragma once
// Rules written out as our own YAML: what `import` prints.

#include <string>

#include "config/rules_config.h"
#include "text/tree.h"

namespace shard {

/// The rules as the tree of a file, every node with the place where it was written.
TextNode rules_tree(const RulesConfig& rules);

/// A rules file that reads back as `rules` (places, name and file aside). Rules are one a line;
/// names are quoted where YAML would take them for something else.
std::string write_rules_yaml(const RulesConfig& rules);

}  // namespace shard
