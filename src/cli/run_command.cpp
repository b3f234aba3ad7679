#include <algorithm>
#include <filesystem>

#include "base/diagnostic.h"
#include "checkpoint/safetensors.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "cli/run_function.h"
#include "cli/stages.h"
#include "report/json.h"
#include "report/run_text.h"

namespace shard {
namespace {

void check_conflicts(const Options& options) {
  if (options.check_steps > 0 || options.dump.empty()) return;
  throw Error("usage", {"command line"}, "--dump writes what the compared steps leave",
              "it cannot go with --check-steps 0");
}

void dump_arrays(const Options& options, const std::string& name,
                 const std::vector<NamedTensor>& arrays) {
  if (options.dump.empty() || arrays.empty()) return;
  const auto path = std::filesystem::path(options.dump) / (name + ".safetensors");
  write_file(path.string(), write_safetensors(arrays), options.force);
}

/// Runs one function, adds it to the report, writes its arrays.
void add_function(const PlannedFunction& function, const std::string& title,
                  const RunArrays& arrays, int compared_steps, const Options& options,
                  Progress& progress, RunReport& report) {
  FunctionOutcome outcome =
      run_function(function, title, arrays, compared_steps, options, progress);
  dump_arrays(options, "state", outcome.state);
  dump_arrays(options, function.sharded.graph.name, outcome.results);
  report.workers = outcome.workers;
  report.functions.push_back(std::move(outcome.run));
}

}  // namespace

int run_command(const Options& options, Sources& sources) {
  check_conflicts(options);
  const Plan plan = make_plan(options, sources);
  if (!options.dump.empty()) make_folder(options.dump, "--dump");
  Progress progress(options);
  RunReport report;
  report.plan = &plan;
  report.seed = options.seed >= 0 ? options.seed : plan.seed;
  progress.say("initial values");
  const RunArrays arrays = make_arrays(plan, options, report.seed);
  if (plan.train_step) {
    add_function(*plan.train_step, "train step", arrays, options.check_steps, options, progress,
                 report);
  }
  add_function(plan.apply, "apply", arrays, std::min(options.check_steps, 1), options, progress,
               report);
  progress.clear();
  write_answer(options, options.format == Format::json ? run_json(report)
                                                       : run_text(report, layout_of(options)));
  return report.is_ok() ? 0 : 1;
}

}  // namespace shard
