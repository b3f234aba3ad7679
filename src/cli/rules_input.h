#pragma once
// What a user types for RULES.
//
//   flax_guide                    a shipped file by its name, or a path
//   rules.yaml#decode             a rule set of the file, or a list of a foreign one by name or
//   line base.yml                      MaxText, T5X, Flax ... files as they are (see
//   import_rules.h) fsdp_tp.yaml,site.yaml        the later file laid over the earlier one

#include <string>
#include <vector>

#include "cli/options.h"
#include "config/rules_config.h"
#include "text/files.h"

namespace shard {

/// One file of a word, and which of its rules.
struct RulesFile {
  std::string file;
  std::string selected;  ///< behind `#`; empty: the file's own

  friend bool operator==(const RulesFile&, const RulesFile&) = default;
};

/// The files of a word, lowest first. A word that is the path of a file is that file.
std::vector<RulesFile> rules_files_of(const std::string& word);

/// Reads the files, lays them over each other as the options say, then makes the command line's
/// changes. Warnings go to stderr. Throws `Error`: `missing-file`, what `import_rules` throws,
/// `missing-key` and `mesh-missing` when nothing says what the mesh is.
RulesConfig read_rules_files(const std::vector<RulesFile>& files, RuleMerge merge,
                             const Options& options, Sources& sources);

/// The same for rules that need not have a mesh.
RulesConfig read_layered_rules(const std::vector<RulesFile>& files, RuleMerge merge,
                               const Options& options, Sources& sources);

}  // namespace shard
