#pragma once
// Rules laid over rules: several files, then the command line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "config/rules_config.h"
#include "text/files.h"

namespace shard {

/// What happens to the rules of the lower file.
enum class RuleMerge {
  prepend,  ///< the upper file's rules are asked first
  replace,  ///< the upper file's rules of a name stand where the lower one's first rule of that
            ///< name stood, new names behind all others
  append,   ///< the upper file's rules are asked last
};

/// `prepend`, `replace`, `append`; nothing for another word.
std::optional<RuleMerge> rule_merge_named(std::string_view word);
std::vector<std::string> rule_merge_words();

/// `upper` laid over `lower`: rules, rules of parts and placements by path as `merge` says; every
/// other key that `upper` has takes the place of the lower one's (a mesh takes its devices, sizes
/// across slices, axis types and device order with it).
RulesConfig laid_over(RulesConfig lower, RulesConfig upper, RuleMerge merge);

/// The command line's changes, last of all: `drop_rules` (numbers as reports have them), then
/// `mesh`, `dcn`, `devices`, `reshard_memory`, `resolver`, `add_rules`. Raises `bad-override` for a
/// text of the wrong form or the number of no rule, and what the readers of rules and sizes raise.
void override_rules(RulesConfig& rules, const Overrides& overrides, Sources& sources,
                    Diagnostics& diagnostics);

}  // namespace shard
