#pragma once
// How MaxText arrives at the configuration in force: the file's chain of bases, the model's file,
// the command line, the custom mesh-and-rule file, in this order.

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "dialects/import_rules.h"
#include "text/files.h"
#include "text/tree.h"

namespace shard {

/// The merged keys, each value with the location of the file it came from.
struct MaxTextConfig {
  TextNode root;  ///< a map
  std::vector<std::string> files;

  /// The value of a key, or nullptr when it is missing or null.
  const TextNode* find(std::string_view key) const;
  /// The text of a key; empty when it is missing, null or not a scalar.
  std::string text(std::string_view key) const;
};

/// `KEY=VALUE` texts as a map, placed in the pseudo file `--rules-set`. Throws `Error`
/// `bad-override`, and what YAML raises for a value.
TextNode read_settings(const std::vector<std::string>& settings, Sources& sources);

/// Puts the entries of `added` in the place of those of `map` or behind them; its rules are merged
/// by name as below.
void lay_over(TextNode& map, const TextNode& added);

/// Lists of a `base_config` are replaced by the file above. A model file's (`models/NAME.yml`) and
/// the command line's `logical_axis_rules` are merged by name: base rules with those names go, the
/// new ones are appended, unless `override_logical_axis_rules` is true beside them. A custom file
/// (`custom_mesh_and_rule/NAME.yml`) replaces the mesh axes and the rules.
///
/// Throws `Error`: `base-cycle`, `missing-file`, `bad-override`, and those of YAML. Warns
/// (`model-file-missing`, `unknown-key` for a setting, `duplicate-key`) in `diagnostics`.
MaxTextConfig load_maxtext(const std::string& path, const ImportOptions& options, Sources& sources,
                           Diagnostics& diagnostics);

}  // namespace shard
