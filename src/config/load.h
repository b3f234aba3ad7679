#pragma once
// Files to configs: `base` chains, `set`, size sets, command-line overrides, then the key tables.

#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/rules_config.h"
#include "text/files.h"
#include "text/tree.h"

namespace shard {

/// What the command line changes, last of all. Texts are as typed.
struct Overrides {
  std::vector<std::string> set;  ///< `PATH=VALUE`; a bare size's name is short for `sizes.NAME`
  std::string size_set;          ///< `--sizes tiny`; empty: none
  std::string mesh;              ///< `data=4,model=2`; empty: the file's
};

/// A merged document: every node keeps the location of the file (or override) it came from.
struct MergedDocument {
  std::string file;
  TextNode root;
};

/// Reads `path` and its bases, merges maps key by key (lists and scalars are replaced whole),
/// applies each file's `set`, then the size set, then `overrides.set`. Errors: those of
/// `read_yaml`, `missing-file`, `base-cycle`, `bad-set-path`, `unknown-size-set`.
MergedDocument merge_model_file(const std::string& path, const Overrides& overrides,
                                Sources& sources);
MergedDocument merge_rules_file(const std::string& path, const Overrides& overrides,
                                Sources& sources);

/// Merged tree to structs by the key tables; all mistakes are reported in one `Error`.
ModelConfig read_model(const MergedDocument& document);
RulesConfig read_rules(const MergedDocument& document);

/// `plan --resolved`: the merged file as YAML, each line with a comment that names its origin.
std::string write_resolved(const MergedDocument& document);

/// JSON Schema (draft 2020-12) of a model or rules file, from the same tables; pretty printed.
std::string model_schema();
std::string rules_schema();

/// Reads a spec typed on a command line: `P('data', None)` or `[embed, hidden]`.
SpecConfig read_spec_text(const std::string& text, const Location& at);

}  // namespace shard
