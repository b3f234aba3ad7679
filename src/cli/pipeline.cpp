#include "cli/pipeline.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "cli/find_file.h"
#include "cli/stages.h"
#include "config/load.h"

namespace shard {
namespace {

/// One function of the model: how it is split, what each device does.
PlannedFunction plan_function(Graph graph, bool is_main, const RulesConfig& rules, const Mesh& mesh,
                              const StageDump& dump) {
  dump.write(graph, is_main);
  log_debug(fmt::format("{}: {} nodes", graph.name, graph.nodes.size()));
  PlannedFunction planned;
  planned.sharded = shard_graph(std::move(graph), rules, mesh);
  dump.write(planned.sharded, is_main);
  planned.program = partition(planned.sharded);
  dump.write(planned.program, is_main);
  log_debug(fmt::format("{}: {} instructions", planned.program.name,
                        planned.program.main().instructions.size()));
  planned.collectives = count_collectives(planned.program);
  planned.merged = xla_merge(planned.program);
  return planned;
}

}  // namespace

PlanFiles find_plan_files(const Options& options) {
  const auto roots = shipped_roots();
  return {find_file(options.arguments[0], model_files, roots),
          find_file(options.arguments[1], rules_files, roots)};
}

Plan make_plan(const Options& options, Sources& sources) {
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
  plan.model = build_model(config);
  plan.mesh = make_mesh(rules);

  if (plan.model.train_step) {
    plan.train_step =
        plan_function(std::move(*plan.model.train_step), true, rules, plan.mesh, dump);
  }
  const bool apply_is_main = !plan.train_step;
  plan.apply = plan_function(std::move(plan.model.apply), apply_is_main, rules, plan.mesh, dump);

  plan.findings = find_all(plan.model, plan.main().sharded, plan.main().program, rules);
  if (options.capacity) {
    plan.fit = Fit{*options.capacity, plan.main().program.memory.peak};
    plan.device = options.device;
  }
  return plan;
}

}  // namespace shard
