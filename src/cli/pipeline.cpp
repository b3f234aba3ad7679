#include "cli/pipeline.h"

#include "base/log.h"
#include "cli/arrays_input.h"
#include "cli/find_file.h"
#include "cli/plan_functions.h"
#include "cli/stages.h"
#include "config/load.h"

namespace shard {

bool may_fold(const Options& options) {
  return options.fold && !options.all && options.dump_stages.empty();
}

ModelInput read_model_input(const std::string& word, const Options& options, Sources& sources) {
  ModelInput input;
  input.file = find_file(word, model_files, shipped_roots());
  log_info("model " + input.file);
  const bool is_dump = is_dump_of_arrays(input.file, sources);
  const MergedDocument document = is_dump
                                      ? arrays_document(input.file, options.overrides, sources)
                                      : merge_model_file(input.file, options.overrides, sources);
  if (lists_arrays(document)) {
    input.arrays = read_all_arrays(document, sources);
    input.arrays->paths = options.paths;
  } else {
    input.config = read_model(document);
    input.config.paths = options.paths;
  }
  return input;
}

Plan make_plan(const ModelInput& model, const RulesConfig& rules, const Options& options,
               bool fold) {
  const StageDump dump(options);
  Plan plan;
  plan.model_file = model.file;
  plan.rules = rules;
  plan.seed = model.config.seed;
  plan.mesh = make_mesh(rules);
  if (model.has_program()) {
    plan_functions(plan, model.config, rules, fold, dump);
  } else {
    plan_arrays(plan, *model.arrays, rules, dump);
  }
  plan.findings = find_all(plan.model, plan.main().sharded, plan.main().program, rules);
  if (options.capacity) {
    plan.fit = Fit{*options.capacity, plan.main().program.memory.peak};
    plan.device = options.device;
  }
  return plan;
}

Plan make_plan(const Options& options, Sources& sources, bool fold) {
  const ModelInput model = read_model_input(options.arguments[0], options, sources);
  return make_plan(model, read_rules_input(options.arguments[1], options, sources), options, fold);
}

}  // namespace shard
