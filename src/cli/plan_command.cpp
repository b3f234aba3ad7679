#include <algorithm>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/find_file.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
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

bool is_yes(const Plan& plan) {
  const bool has_error =
      std::any_of(plan.findings.begin(), plan.findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::error; });
  return !has_error && (!plan.fit || plan.fit->fits());
}

}  // namespace

int plan_command(const Options& options, Sources& sources) {
  if (options.resolved) {
    write_answer(options, resolved_text(options, sources));
    return 0;
  }
  const Plan plan = make_plan(options, sources, may_fold(options));
  write_answer(options, options.format == Format::json ? plan_json(plan)
                                                       : plan_text(plan, layout_of(options)));
  return is_yes(plan) ? 0 : 1;
}

}  // namespace shard
