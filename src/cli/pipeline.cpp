#include "cli/pipeline.h"

#include "base/log.h"
#include "cli/find_file.h"
#include "cli/plan_functions.h"
#include "cli/stages.h"
#include "config/load.h"

namespace shard {
PlanFiles find_plan_files(const Options& options) {
  const auto roots = shipped_roots();
  return {find_file(options.arguments[0], model_files, roots),
          find_file(options.arguments[1], rules_files, roots)};
}

bool may_fold(const Options& options) {
  return options.fold && !options.all && options.dump_stages.empty();
}

Plan make_plan(const Options& options, Sources& sources, bool fold) {
  const PlanFiles files = find_plan_files(options);
  log_info("model " + files.model + ", rules " + files.rules);
  const ModelConfig config = read_model(merge_model_file(files.model, options.overrides, sources));
  const RulesConfig rules = read_rules(merge_rules_file(files.rules, options.overrides, sources));
  const StageDump dump(options);

  Plan plan;
  plan.model_file = files.model;
  plan.rules_file = files.rules;
  plan.rules_name = rules.name;
  plan.seed = config.seed;
  plan.mesh = make_mesh(rules);
  plan_functions(plan, config, rules, fold, dump);
  plan.findings = find_all(plan.model, plan.main().sharded, plan.main().program, rules);
  if (options.capacity) {
    plan.fit = Fit{*options.capacity, plan.main().program.memory.peak};
    plan.device = options.device;
  }
  return plan;
}

}  // namespace shard
