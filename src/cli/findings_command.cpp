#include "report/findings_list.h"

#include "base/diagnostic.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/pipeline.h"

namespace shard {

int findings_command(const Options& options, Sources& sources) {
  const bool is_json = options.format == Format::json;
  if (options.list) {
    if (!options.arguments.empty()) {
      throw Error("usage", {"command line"},
                  "--list takes no files, found '" + options.arguments.front() + "'",
                  "usage: shard-plan findings --list");
    }
    write_answer(options, is_json ? findings_list_json() : findings_list_text(layout_of(options)));
    return 0;
  }
  if (options.arguments.size() < 2) {
    throw Error(
        "usage", {"command line"},
        "findings needs MODEL RULES, found " + std::to_string(options.arguments.size()) + " of 2",
        "usage: shard-plan findings MODEL RULES, or shard-plan findings --list");
  }
  const Plan plan = make_plan(options, sources, may_fold(options));
  write_answer(options, is_json ? findings_json(plan) : findings_text(plan, layout_of(options)));
  return is_yes(plan) ? 0 : 1;
}

}  // namespace shard
