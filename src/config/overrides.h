#pragma once
// What the command line changes in a merged tree. Each text is kept in `sources` under the name of
// its flag, so that messages can show it. All raise `bad-override` for a text of the wrong form.

#include <string>
#include <vector>

#include "text/files.h"
#include "text/tree.h"

namespace shard {

/// `--sizes NAME`: lays the size set over the sizes. Raises `unknown-size-set`.
void override_sizes(TextNode& root, const std::string& size_set, Sources& sources,
                    Diagnostics& diagnostics);

/// `--set PATH=VALUE`, in order. Raises `bad-set-path` and what `read_yaml` raises for a value.
void override_paths(TextNode& root, const std::vector<std::string>& settings, Sources& sources,
                    Diagnostics& diagnostics);

/// `data=4,model=2` of the option `flag` as a map of sizes.
TextNode read_axes_text(const std::string& flag, const std::string& text, Sources& sources,
                        Diagnostics& diagnostics);

/// The lines of a pseudo file, one text each; a line break inside a text would move the others.
std::string as_lines(const std::vector<std::string>& texts);

/// `--mesh data=4,model=2`: replaces the mesh.
void override_mesh(TextNode& root, const std::string& mesh, Sources& sources,
                   Diagnostics& diagnostics);

/// `--add-rule "[embed, data]"`, behind the file's rules.
void add_rules(TextNode& root, const std::vector<std::string>& rules, Sources& sources,
               Diagnostics& diagnostics);

}  // namespace shard
