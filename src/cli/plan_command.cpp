#include "cli/answer.h"
#include "cli/by_rule_input.h"
#include "cli/commands.h"
#include "cli/delta_input.h"
#include "cli/find_file.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "cli/suggest.h"
#include "dialects/rules_yaml.h"
#include "report/json.h"
#include "report/plan_text.h"

namespace shard {
namespace {

/// Both files after `base`, `set` and the overrides, each line with its origin.
std::string resolved_text(const Options& options, Sources& sources) {
  const std::string model = find_file(options.arguments[0], model_files, shipped_roots());
  const RulesConfig rules = read_rules_input(options.arguments[1], options, sources);
  MergedDocument document;
  document.file = rules.file;
  document.root = rules_tree(rules);
  return write_resolved(model_document(model, options, sources)) + "---\n" +
         write_resolved(document);
}

}  // namespace

int plan_command(const Options& options, Sources& sources) {
  if (options.resolved) {
    write_answer(options, resolved_text(options, sources));
    return 0;
  }
  if (options.suggest) {
    write_answer(options, suggested_edit(options, sources));
    return 0;
  }
  if (options.types && options.format == Format::json) {
    throw Error("usage", {"--types"}, "--types is a screen for people, the JSON answer has specs",
                "leave --format json out");
  }
  const ModelInput model = read_model_input(options.arguments[0], options, sources);
  const Plan plan = make_plan(model, read_rules_input(options.arguments[1], options, sources),
                              options, may_fold(options));
  if (options.by_rule) {
    const std::vector<RuleStep> steps = rule_steps(model, plan, options);
    write_answer(options, options.format == Format::json
                              ? by_rule_json(plan, steps)
                              : by_rule_text(plan, steps, layout_of(options)));
    return 0;
  }
  const std::optional<Delta> delta = delta_of(plan, options, sources);
  const Layout layout = layout_of(options);
  const std::string text =
      options.format == Format::json
          ? plan_json(plan, delta)
          : plan_text(plan, layout) + (delta ? '\n' + delta_text(*delta, layout) : "");
  write_answer(options, text);
  return is_yes(plan) ? 0 : 1;
}

}  // namespace shard
