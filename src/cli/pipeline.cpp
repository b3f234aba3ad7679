#include "cli/pipeline.h"

#include <algorithm>

#include "base/log.h"
#include "cli/arrays_input.h"
#include "cli/find_file.h"
#include "cli/plan_functions.h"
#include "cli/stages.h"
#include "config/load.h"

namespace shard {

namespace {

/// Manual axes need programs per device, which models cannot say.
void check_axis_types(const RulesConfig& rules) {
  for (const AxisTypeConfig& type : rules.axis_types) {
    if (type.word != "manual") continue;
    throw Error("not-yet", type.at,
                "axes of type 'manual' are not supported yet for a model with a program: layers "
                "have no form for one device",
                "use auto or explicit; a list of arrays may have them");
  }
}

}  // namespace

bool may_fold(const Options& options) {
  return options.fold && !options.all && options.dump_stages.empty();
}

MergedDocument model_document(const std::string& file, const Options& options, Sources& sources) {
  if (is_dump_of_arrays(file, sources)) return arrays_document(file, options.overrides, sources);
  return merge_model_file(file, options.overrides, sources);
}

ModelInput read_model_input(const std::string& word, const Options& options, Sources& sources) {
  ModelInput input;
  input.file = find_file(word, model_files, shipped_roots());
  log_info("model " + input.file);
  const MergedDocument document = model_document(input.file, options, sources);
  if (lists_arrays(document)) {
    input.arrays = read_all_arrays(document, sources);
    input.arrays->paths = options.paths;
  } else {
    input.config = read_model(document);
    input.config.paths = options.paths;
  }
  return input;
}

void require_program(const ModelInput& model, const std::string& what) {
  if (model.has_program()) return;
  throw Error("no-program", {model.file},
              "the model is a list of arrays: there is no program to " + what,
              "plan, show, explain, compare and check work on arrays alone; a program has inputs "
              "and layers");
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
    check_axis_types(rules);
    // Equal iterations may have paths that are placed differently.
    plan_functions(plan, model.config, rules, fold && rules.paths.empty(), options.fusion, dump);
  } else {
    plan_arrays(plan, *model.arrays, rules, dump);
  }
  plan.findings = find_all(plan.model, plan.main().sharded, plan.main().program, rules,
                           options.finding_levels, model.has_program() ? &model.config : nullptr);
  if (options.capacity) {
    // Of a list of arrays only the least is known that a step takes.
    plan.fit = Fit{*options.capacity,
                   model.has_program() ? plan.main().program.memory.peak : state_bytes(plan.apply)};
    plan.device = options.device;
  }
  return plan;
}

Plan make_plan(const Options& options, Sources& sources, bool fold) {
  const ModelInput model = read_model_input(options.arguments[0], options, sources);
  return make_plan(model, read_rules_input(options.arguments[1], options, sources), options, fold);
}

bool is_yes(const Plan& plan) {
  const bool has_error =
      std::any_of(plan.findings.begin(), plan.findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::error; });
  return !has_error && (!plan.fit || plan.fit->fits());
}

}  // namespace shard
