#pragma once
// Rules of any format the field uses, as ours: what every command that takes a rules file calls.
//
//   MaxText, maxdiffusion YAML   `base_config` chains, model files, custom mesh-and-rule files; the
//                                rules in force and the sizes of the mesh are worked out as there
//   T5X, whisper-jax, Flax       Python literals, sources, gin files; pasted lists of pairs
//   our own YAML                 through `config`

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "config/load.h"
#include "config/rules_config.h"
#include "dialects/format.h"
#include "text/files.h"

namespace shard {

/// What a file of another framework leaves to its command line.
struct ImportOptions {
  /// Hardware by name (`v5e-256`, `4xv5e-16`); empty: the file's own, if it names one.
  std::string devices;
  Location devices_at;
  /// Without a name: devices of one slice (a node, for GPUs), and how many slices.
  std::optional<std::int64_t> devices_per_slice;
  std::optional<std::int64_t> slices;
  /// Where `base_config`, model files and custom rule files are looked for after the folder of the
  /// file that names them and the four folders above it.
  std::vector<std::string> config_folders;
  /// `KEY=VALUE` of the framework's own keys (`ici_fsdp_parallelism=4`), as its command line takes
  /// them. In messages they are the lines of the pseudo file `--rules-set`.
  std::vector<std::string> settings;
  /// Applied last, whatever the format (see `override_rules`); a `mesh` takes the place of the
  /// file's, which then is not read.
  Overrides overrides;
  /// Which rules of a file that has several: a rule set of ours, a name
  /// (`logical_axis_rules_full`), a line number.
  std::string selected;
};

struct ImportedRules {
  RulesConfig rules;
  FileFormat format = FileFormat::unknown;
  std::string looks_like;
  /// Warnings and notes: what was assumed, what was not read. Errors are thrown.
  std::vector<Diagnostic> remarks;
  /// Keys of a framework's files that say nothing about sharding, in file order.
  std::vector<std::string> ignored_keys;
  /// Every file that was read, the first asked for first.
  std::vector<std::string> files;
};

/// Reads `path`, whatever it is. A mesh axis whose size only the number of devices decides has size
/// -1 when that number is not known, and a remark `needs-device-count` says so.
/// Throws `Error`: `unknown-format` (what the file looks like instead), `no-rules`,
/// `several-rule-lists` (which there are), `unknown-rule-list` (nearest), those of the readers of
/// rule lists, of the mesh's sizes, and of YAML and Python text; `base-cycle`, `missing-file` for
/// the files it builds on.
ImportedRules import_rules(const std::string& path, const ImportOptions& options, Sources& sources);

/// The error for a file that is not what was asked for.
[[noreturn]] void fail_unknown_format(const std::string& path, const Sniffed& found,
                                      const std::string& expected);

}  // namespace shard
