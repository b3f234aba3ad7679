#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "report/json.h"
#include "report/select.h"
#include "report/show_text.h"

namespace shard {

int show_command(const Options& options, Sources& sources) {
  const Plan plan = make_plan(options, sources, may_fold(options));
  const std::vector<std::string> names(options.arguments.begin() + 2, options.arguments.end());
  const std::vector<ArrayRow> chosen = select_arrays(named_arrays(plan), names);
  const ShowOptions show{options.jax_style, options.bare, false, picture_width(options)};
  write_answer(options, options.format == Format::json
                            ? show_json(plan, chosen)
                            : show_text(plan, chosen, show, layout_of(options)));
  return 0;
}

}  // namespace shard
