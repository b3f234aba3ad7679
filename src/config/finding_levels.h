#pragma once
// How loud each kind of finding is: what a rules file or a job says, and what the command line says
// after it. Which kinds there are is known where they are found, not here.

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "text/tree.h"

namespace shard {

enum class FindingLevel { off, note, warn, error };

/// `axis-unused: error`.
struct FindingLevelConfig {
  std::string id;
  FindingLevel level = FindingLevel::warn;
  Location at;

  friend bool operator==(const FindingLevelConfig&, const FindingLevelConfig&) = default;
};

/// Reads a map of ids to `off`, `note`, `warn` (or `warning`) and `error`. Raises `wrong-type`,
/// `unknown-word`.
std::vector<FindingLevelConfig> read_finding_levels(const TextNode& node, Diagnostics& diagnostics);

/// Reads `ID=LEVEL` as typed. Throws `Error` (`bad-value` at `option`).
FindingLevelConfig read_finding_level(const std::string& option, const std::string& text);

}  // namespace shard
