#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/diagnostic.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/write_file.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/fault_option.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "cli/run_function.h"
#include "cli/stages.h"
#include "report/json.h"
#include "report/run_text.h"

namespace shard {
namespace {

std::string dump_path(const Options& options, const std::string& name) {
  return (std::filesystem::path(options.dump) / (name + ".safetensors")).string();
}

void dump_arrays(const Options& options, const std::string& name,
                 const std::vector<NamedTensor>& arrays) {
  if (options.dump.empty() || arrays.empty()) return;
  write_file(dump_path(options, name), write_safetensors(arrays), options.force);
}

/// Refuses what could not be written, before anything is computed.
void check_destinations(const Plan& plan, const Options& options) {
  if (!options.output.empty()) check_writable(options.output, options.force);
  if (options.dump.empty()) return;
  make_folder(options.dump, "--dump");
  for (const std::string& name :
       {std::string("state"), plan.main().sharded.graph.name, plan.apply.sharded.graph.name}) {
    check_writable(dump_path(options, name), options.force);
  }
}

/// What is run, with how many compared steps; the main function first.
struct Task {
  const PlannedFunction* function;
  std::string title;
  int compared_steps;
};

std::vector<Task> tasks_of(const Plan& plan, const Options& options) {
  std::vector<Task> tasks;
  if (plan.train_step) tasks.push_back({&*plan.train_step, "train step", options.check_steps});
  tasks.push_back({&plan.apply, "apply", std::min(options.check_steps, 1)});
  return tasks;
}

/// A worker that does not come back cannot be ended from outside; the process can.
ClusterOptions cluster_options_of(const Options& options, const Sources& sources) {
  ClusterOptions made;
  made.has_thread_per_device = options.has_thread_per_device;
  made.workers = options.workers;
  made.collectives = options.collectives;
  made.fault = options.fault;
  made.timeout = options.timeout;
  made.given_up = [&sources](const RunFailure& failure) {
    std::string text;
    for (const Diagnostic& one : failure.diagnostics()) text += render(one, sources);
    write_fully(STDERR_FILENO, text);
    _exit(1);
  };
  return made;
}

void check_threads(const Options& options, std::int64_t devices) {
  constexpr std::int64_t most_threads = 4096;
  if (!options.has_thread_per_device) return;
  if (options.workers > 0) {
    throw Error("usage", {"--threads-per-device"},
                "every device has a thread of its own then, which --workers cannot change",
                "leave out one of the two");
  }
  if (devices <= most_threads) return;
  throw Error("bad-value", {"--threads-per-device"},
              "there are " + with_commas(devices) + " devices, and at most " +
                  with_commas(most_threads) + " threads",
              "leave it out: workers take the devices in turn");
}

void check_hosts(const Options& options) {
  if (options.collectives.hosts == 1) return;
  if (options.collectives.algorithm == CollectiveAlgorithm::hierarchical) return;
  throw Error("usage", {"--hosts"},
              "--collectives " + std::string(to_string(options.collectives.algorithm)) +
                  " does not tell hosts apart",
              "only --collectives hierarchical does");
}

RunReport run_plan(const Plan& plan, const Options& options, const ClusterOptions& cluster_options,
                   Progress& progress) {
  check_threads(options, plan.mesh.device_count());
  check_hosts(options);
  if (options.fault) check_fault(*options.fault, plan.mesh.device_count());
  RunReport report;
  report.plan = &plan;
  report.fault = options.fault;
  report.collectives = options.collectives;
  report.seed = options.seed >= 0 ? options.seed : plan.seed;
  std::optional<RunArrays> arrays;
  for (const Task& task : tasks_of(plan, options)) {
    // The cluster first: it refuses what does not fit before anything large is allocated.
    Cluster cluster(task.function->program, cluster_options);
    progress.say("initial values");
    if (!arrays) arrays = make_arrays(plan, options, report.seed);
    FunctionOutcome outcome = run_function(cluster, *task.function, task.title, *arrays,
                                           task.compared_steps, options, progress);
    dump_arrays(options, "state", outcome.state);
    dump_arrays(options, task.function->sharded.graph.name, outcome.results);
    report.workers = cluster.workers();
    report.functions.push_back(std::move(outcome.run));
  }
  return report;
}

}  // namespace

int run_command(const Options& options, Sources& sources) {
  const ModelInput model = read_model_input(options.arguments[0], options, sources);
  require_program(model, "run");
  const RulesConfig rules = read_rules_input(options.arguments[1], options, sources);
  const Plan plan = make_plan(model, rules, options, false);
  check_destinations(plan, options);
  Progress progress(options);
  const RunReport report = run_plan(plan, options, cluster_options_of(options, sources), progress);
  progress.clear();
  write_answer(options, options.format == Format::json ? run_json(report)
                                                       : run_text(report, layout_of(options)));
  return report.is_ok() ? 0 : 1;
}

}  // namespace shard
