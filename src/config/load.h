#pragma once
// Files to configs: `base` chains, `set`, size sets, command-line overrides, then the key tables.

#include <string>
#include <vector>

#include "config/arrays_config.h"
#include "config/model_config.h"
#include "config/rules_config.h"
#include "text/files.h"
#include "text/tree.h"

namespace shard {

/// What the command line changes, last of all. Texts are as typed. Their places in messages are in
/// pseudo files named like their flags (`--set`, one line per text).
struct Overrides {
  std::vector<std::string> set;           ///< `PATH=VALUE`; a bare size's name: `sizes.NAME`
  std::string size_set;                   ///< `--sizes tiny`; empty: none
  std::string mesh;                       ///< `data=4,model=2`; empty: the file's
  std::vector<std::string> add_rules;     ///< `[embed, data]`, put behind the file's rules
  std::vector<std::string> drop_rules{};  ///< numbers of rules, from 1, as reports have them
  std::string resolver{};                 ///< `linen` or `nnx`; empty: the file's
  std::string devices{};                  ///< `v5e-256`; empty: the file's
  Bytes reshard_memory{};                 ///< 0: the file's
  std::string dcn{};                      ///< `data=4`; empty: the file's
};

/// A merged document: every node keeps the location of the file (or override) it came from.
struct MergedDocument {
  std::string file;
  TextNode root;
  /// What was wrong with `set` and the overrides; reported together with the file's mistakes by
  /// `read_model` and `read_rules`.
  std::vector<Diagnostic> problems;
  std::string rule_set{};                ///< of a rules file: the set that was asked for
  std::vector<std::string> rule_sets{};  ///< those that it has
};

/// Reads `path` and its bases, merges maps key by key (lists and scalars are replaced whole),
/// applies each file's `set`, then the size set, then `overrides.set`. `base` and `set` are gone
/// from the result. Throws `Error`: those of `read_yaml`, `missing-file`, `empty-file`,
/// `unreadable-file`, `base-cycle`, `wrong-type` (a file that is no map, a `base` or `set` of the
/// wrong kind). Collects `bad-set-path`, `bad-override`, `unknown-size-set`.
MergedDocument merge_model_file(const std::string& path, const Overrides& overrides,
                                Sources& sources);
/// The same for a rules file; `overrides.mesh` replaces the mesh, `overrides.add_rules` follow the
/// rules; the other overrides are not looked at (see `override_rules`). The keys of the rule set
/// `rule_set`, if one is asked for, take the place of the file's; collects `unknown-rule-set`.
MergedDocument merge_rules_file(const std::string& path, const Overrides& overrides,
                                Sources& sources, const std::string& rule_set = "");

/// Merged tree to structs by the key tables; all mistakes are reported in one `Error`:
/// `wrong-file`, `unknown-key`, `missing-key`, `wrong-type`, `not-yet`, `unknown-word`, `bad-name`,
/// `reserved-name`, `conflicting-keys`, `bad-size`, `unknown-size`, `size-cycle`, `size-overflow`,
/// `unknown-dtype`, `type-syntax`, `spec-syntax`, `expression-syntax`, `unknown-initializer`,
/// `unknown-optimizer`, `unknown-loss`, `bad-rule`.
ModelConfig read_model(const MergedDocument& document);
RulesConfig read_rules(const MergedDocument& document);

/// A model file is a list of arrays when it has the key `arrays` or `from`, else a program.
bool lists_arrays(const MergedDocument& document);
/// The document of a dump or a checkpoint that is given instead of a model file: nothing but
/// `from`, and the overrides.
MergedDocument arrays_document(const std::string& path, const Overrides& overrides,
                               Sources& sources);
/// What `from` names is left to be read; it is a path relative to the file that names it. Raises
/// the same, and `conflicting-keys` (keys of a program), `bad-path-rule`, `bad-range`,
/// `too-many-arrays`, `duplicate-array`.
ArraysConfig read_arrays(const MergedDocument& document);

/// Throws `Error` `missing-key` when nothing gave the rules a mesh: neither the file nor what was
/// laid over it.
void check_has_mesh(const RulesConfig& rules);

/// `plan --resolved`: the merged file as YAML, each line with a comment that names its origin.
/// Throws `Error` with `document.problems` if there are any.
std::string write_resolved(const MergedDocument& document);

/// JSON Schema (draft 2020-12) of a model or rules file, from the same tables; pretty printed.
std::string model_schema();
std::string rules_schema();

/// Reads a spec typed on a command line: `P('data', None)`, `[embed, hidden]` or `null`. Throws
/// `Error` `spec-syntax`, `wrong-type`, those of `read_yaml`.
SpecConfig read_spec_text(const std::string& text, const Location& at);

}  // namespace shard
