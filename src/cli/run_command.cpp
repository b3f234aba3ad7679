#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/write_file.h"
#include "cli/answer.h"
#include "cli/cluster_choice.h"
#include "cli/commands.h"
#include "cli/fault_option.h"
#include "cli/host_team.h"
#include "cli/layout.h"
#include "cli/machine_limits.h"
#include "cli/pipeline.h"
#include "cli/run_function.h"
#include "cli/stages.h"
#include "cli/trace_file.h"
#include "exec/cores.h"
#include "exec/packed.h"
#include "ops/custom_call.h"
#include "report/json.h"
#include "report/memory_picture.h"
#include "report/run_text.h"
#include "report/sections.h"

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
  for (const std::string& path : {options.trace, options.memory_svg}) {
    if (!path.empty()) check_writable(path, options.force);
  }
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
ClusterOptions cluster_options_of(const Options& options, const Sources& sources,
                                  Transport* transport) {
  ClusterOptions made;
  made.has_thread_per_device = options.has_thread_per_device;
  made.has_guards = options.verify_memory;
  made.workers = options.workers;
  made.fault = options.fault;
  made.timeout = options.timeout;
  made.transport = transport;
  made.given_up = [&sources, transport](const RunFailure& failure) {
    std::string text;
    for (const Diagnostic& one : failure.diagnostics()) text += render(one, sources);
    if (transport != nullptr) transport->fail(text, 1);
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

/// What the options say of collectives, with the hosts that there are.
CollectiveChoice collectives_of(const Options& options, const HostTeam& team) {
  const CollectiveChoice& choice = options.collectives;
  if (team.transport() == nullptr) return own_collectives(options);
  if (options.has_algorithm && choice.algorithm != CollectiveAlgorithm::hierarchical) {
    throw Error("usage", {"--collectives"},
                "--backend mpi has no collectives by " + std::string(to_string(choice.algorithm)),
                "it does them hierarchically: within each host, across hosts, within each host");
  }
  if (choice.hosts != 1 && choice.hosts != team.hosts()) {
    throw Error("usage", {"--hosts"},
                "there are " + counted(team.hosts(), "MPI rank") + ", and each is a host",
                "leave it out");
  }
  return {CollectiveAlgorithm::hierarchical, team.hosts()};
}

/// Calls of code that is not ours can be run where an op of ours stands for them.
void check_calls(const Plan& plan, const Options& options) {
  Diagnostics diagnostics;
  std::set<std::string> seen;  // a call in both functions is told once
  for (const Task& task : tasks_of(plan, options)) {
    for (const Node& node : task.function->sharded.graph.nodes) {
      if (node.op != Op::custom_call) continue;
      const TensorType& result = task.function->sharded.graph.value(node.results.front()).type;
      if (meaning_of_call(node.attributes, {&result, 1})) continue;
      const std::string what =
          "'" + node.attributes.text("call") + "' is not ours and cannot be run";
      if (!seen.insert(to_string(node.at) + what).second) continue;
      diagnostics.error("no-kernel", node.at, what,
                        "name the op that computes the same: `as: reduce_sum`; `plan` needs none");
    }
  }
  diagnostics.throw_if_errors();
}

void check_run(const Plan& plan, const Options& options) {
  check_calls(plan, options);
  check_threads(options, plan.mesh.device_count());
  if (options.fault) check_fault(*options.fault, plan.mesh.device_count());
}

/// Runs all tasks into `report`; an exit code when that is refused before a task.
std::optional<int> run_tasks(const Plan& plan, const Options& options, const HostTeam& team,
                             const ClusterOptions& cluster_options, Progress& progress,
                             RunReport& report) {
  std::optional<RunArrays> arrays;
  for (const Task& task : tasks_of(plan, options)) {
    // The cluster first: it refuses what does not fit before anything large is allocated.
    std::optional<Cluster> cluster;
    const std::optional<int> refused = team.together([&] {
      cluster.emplace(task.function->program, cluster_options);
      progress.say("initial values");
      if (!arrays) arrays = make_arrays(plan, options, report.seed);
    });
    if (refused) return refused;
    team.bound([&] {
      FunctionOutcome outcome = run_function(*cluster, *task.function, task.title, *arrays,
                                             task.compared_steps, options, progress);
      dump_arrays(options, "state", outcome.state);
      dump_arrays(options, task.function->sharded.graph.name, outcome.results);
      report.workers = outcome.run.counters.workers;
      report.functions.push_back(std::move(outcome.run));
    });
  }
  return std::nullopt;
}

/// What all hosts' machines can do together. What one of them kept may be of all its cores, which
/// several share, so of several hosts it is known only when all have just measured.
std::optional<MachineLimits> sum_of_limits(const HostTeam& team, const MachineLimits& own) {
  Packer packer;
  packer.put(own);
  MachineLimits sum;
  for (const std::vector<std::byte>& bytes : gather(team.transport(), std::move(packer).bytes())) {
    const MachineLimits one = Unpacker(bytes).take<MachineLimits>();
    sum.product_flops += one.product_flops;
    sum.copy_bytes += one.copy_bytes;
  }
  return sum;
}

/// What the machine can do with these workers; an exit code when measuring fails.
std::optional<int> find_limits(const Options& options, const HostTeam& team, Sources& sources,
                               Progress& progress, RunReport& report) {
  const int workers = options.workers > 0 ? options.workers : allowed_cores();
  if (team.hosts() == 1) {
    return team.together([&] {
      report.limits = options.profile ? profile_machine(workers, sources, progress)
                                      : known_limits(workers, sources);
    });
  }
  if (!options.profile) return std::nullopt;
  MachineLimits own;
  const auto refused = team.together([&] { own = profile_share(workers, progress); });
  if (!refused) report.limits = sum_of_limits(team, own);
  return refused;
}

/// What is drawn and recorded beside the answer.
void write_beside(const RunReport& report, const Options& options) {
  if (!options.memory_svg.empty()) {
    const FunctionRun& main = report.functions.front();
    write_file(options.memory_svg, memory_picture_svg(*main.function, main.title), options.force);
  }
  if (!options.trace.empty()) {
    write_file(options.trace, trace_text_for(options.trace, report), options.force);
  }
}

}  // namespace

int run_command(const Options& given, Sources& sources) {
  const HostTeam team(given, sources);
  Options options = team.own(given);
  std::optional<Plan> plan;
  RunReport report;
  const std::optional<int> refused = team.together([&] {
    const ModelInput model = read_model_input(options.arguments[0], options, sources);
    require_program(model, "run");
    const RulesConfig rules = read_rules_input(options.arguments[1], options, sources);
    plan = make_plan(model, rules, options, false);
    if (team.is_first()) check_destinations(*plan, options);
    report.collectives = collectives_of(options, team);
    check_run(*plan, options);
    options.workers = useful_workers(options, plan->mesh.device_count() / team.hosts());
  });
  if (refused) return *refused;
  report.plan = &*plan;
  report.fault = options.fault;
  report.trace_file = options.trace;
  report.seed = options.seed >= 0 ? options.seed : plan->seed;
  if (team.transport() != nullptr) report.network = team.transport()->description();
  ClusterOptions cluster_options = cluster_options_of(options, sources, team.transport());
  cluster_options.collectives = report.collectives;
  Progress progress(options);
  if (const auto code = find_limits(options, team, sources, progress, report)) return *code;
  if (const auto code = run_tasks(*plan, options, team, cluster_options, progress, report)) {
    return *code;
  }
  progress.clear();
  team.bound([&] {
    if (team.is_first()) write_beside(report, options);
    write_answer(options, options.format == Format::json ? run_json(report)
                                                         : run_text(report, layout_of(options)));
  });
  return team.agreed(report.is_ok() ? 0 : 1);
}

}  // namespace shard
