#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/rules_input.h"
#include "dialects/rules_yaml.h"

namespace shard {

/// Rules of any form as our YAML; a size that nobody gave stays -1.
int import_command(const Options& options, Sources& sources) {
  const std::string& word = options.arguments[0];
  const RulesConfig rules =
      read_layered_rules(rules_files_of(word), options.rule_merge, options, sources);
  write_answer(options, "# from " + word + "\n" + write_rules_yaml(rules));
  return 0;
}

}  // namespace shard
