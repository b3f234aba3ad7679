#include "cli/run_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/diagnostic.h"
#include "exec/arena.h"
#include "exec/compare_step.h"
#include "exec/first_difference.h"
#include "exec/measure.h"
#include "exec/reference.h"

namespace shard {
namespace {

/// Steps after which the counters are read when nothing is timed.
constexpr int counted_steps_without_timing = 1;

std::vector<HostTensor> read_results(const Cluster& cluster, const Program& program) {
  std::vector<HostTensor> results;
  for (std::size_t output = 0; output < program.outputs.size(); ++output) {
    const int donated = program.outputs[output].donates;
    results.push_back(donated >= 0 ? cluster.read_input(static_cast<std::size_t>(donated))
                                   : cluster.read_output(output));
  }
  return results;
}

/// What the next step starts from: the state that this one left.
void take_state(const Graph& graph, const std::vector<HostTensor>& results,
                std::vector<HostTensor>& arguments) {
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    const int leaf = graph.outputs[output].state_leaf;
    if (leaf < 0) continue;
    const auto fed =
        std::find_if(graph.inputs.begin(), graph.inputs.end(),
                     [&](const GraphInput& input) { return input.state_leaf == leaf; });
    if (fed == graph.inputs.end()) continue;
    arguments[static_cast<std::size_t>(fed - graph.inputs.begin())] = results[output];
  }
}

/// Of each output the worse one, seen in tolerances.
void keep_worse(std::vector<Difference>& kept, std::vector<Difference> found) {
  if (kept.empty()) kept = found;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (found[i].has_non_finite || found[i].largest > kept[i].largest) kept[i] = found[i];
  }
}

bool is_on_first_host(const Cluster& cluster) { return cluster.devices().first == 0; }

/// The claims of all hosts.
std::vector<bool> claims(const Cluster& cluster, bool own) {
  std::vector<bool> claims;
  for (const auto& told : cluster.gather({static_cast<std::byte>(own ? 1 : 0)})) {
    claims.push_back(told.front() != std::byte{0});
  }
  return claims;
}

/// Why the machine has no memory for the unsharded run, or nothing.
std::string lack_of_memory(const Graph& graph) {
  const Bytes needed = reference_bytes(graph);
  const Bytes available = available_memory();
  if (needed <= available) return "";
  return fmt::format("the unsharded run needs {}, and {} are available", human(needed),
                     human(available));
}

void keep_results(const Graph& graph, std::vector<HostTensor> results, FunctionOutcome& outcome) {
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    auto& list = graph.outputs[output].state_leaf >= 0 ? outcome.state : outcome.results;
    list.push_back({graph.outputs[output].path, std::move(results[output])});
  }
}

/// Finds the first value that differs, for a step that started from `arguments`.
void look_for_first(Cluster& cluster, const PlannedFunction& function,
                    const std::vector<HostTensor>& arguments, FunctionRun& run) {
  const Graph& graph = function.sharded.given();
  const Bytes needed = first_difference_bytes(graph), available = available_memory();
  const std::vector<bool> fits = claims(cluster, needed <= available);
  if (std::find(fits.begin(), fits.end(), false) != fits.end()) {
    run.why_no_first =
        fmt::format("unknown: all values of the reference need {}, and {} are available",
                    human(needed), human(available));
    return;
  }
  run.first = first_difference(cluster, graph, function.sharded.graph, function.sharded.shardings,
                               arguments);
  if (run.first) return;
  run.why_no_first = "in the update: no value before it differs when the step is done once more";
}

/// The step's results; where copies differ, the failure also says where that begins.
std::vector<HostTensor> results_or_reason(Cluster& cluster, const PlannedFunction& function,
                                          const std::vector<HostTensor>& arguments,
                                          FunctionRun& run) {
  try {
    return read_results(cluster, function.program);
  } catch (const RunFailure& failure) {
    std::vector<Diagnostic> all = failure.diagnostics();
    look_for_first(cluster, function, arguments, run);
    Diagnostic& note = all.emplace_back();
    note.severity = Severity::note;
    note.id = "first-difference";
    note.message = fmt::format("{}: the first value that differs from the unsharded run: {}",
                               run.title, run.first ? to_string(*run.first) : run.why_no_first);
    throw RunFailure(std::move(all));
  }
}

/// Runs the compared steps; each is compared, on the first host, with the unsharded step from the
/// same state.
void compare_steps(Cluster& cluster, const PlannedFunction& function,
                   std::vector<HostTensor> arguments, Progress& progress,
                   FunctionOutcome& outcome) {
  const Graph& graph = function.sharded.given();
  FunctionRun& run = outcome.run;
  if (is_on_first_host(cluster)) run.why_not_compared = lack_of_memory(graph);
  const bool is_compared = claims(cluster, run.why_not_compared.empty()).front();
  std::vector<HostTensor> results;
  for (int step = 0; step < run.compared_steps; ++step) {
    progress.say(fmt::format("comparing {} with the unsharded reference, step {} of {}", run.title,
                             step + 1, run.compared_steps));
    cluster.run();
    results = results_or_reason(cluster, function, arguments, run);
    if (!is_compared) continue;
    StepComparison found;
    if (is_on_first_host(cluster)) found = compare_step(graph, arguments, results);
    const bool is_equal =
        claims(cluster, std::all_of(found.differences.begin(), found.differences.end(),
                                    [](const Difference& one) { return one.is_ok(); }))
            .front();
    if (!is_equal && !run.first && run.why_no_first.empty()) {
      look_for_first(cluster, function, arguments, run);
    }
    keep_worse(run.differences, std::move(found.differences));
    run.undetermined += found.undetermined;
    run.rounded_otherwise += found.rounded_otherwise;
    take_state(graph, results, arguments);
  }
  keep_results(graph, std::move(results), outcome);
}

void time_and_count(Cluster& cluster, const Options& options, Progress& progress,
                    FunctionRun& run) {
  const auto say = [&](int done) {
    progress.say(fmt::format("timing {}: run {} of {}", run.title, done + 1, options.runs));
  };
  if (options.runs > 0) run.timing = time_steps(cluster, options.runs, options.steps, say);
  const int counted = options.runs > 0 ? options.steps : counted_steps_without_timing;
  cluster.set_profiling(true);
  cluster.reset_counters();
  for (int step = 0; step < counted; ++step) cluster.run();
  run.counters = cluster.counters();
  if (options.verify_memory) run.memory_check = cluster.check_memory_use();
  if (!options.trace.empty()) run.timeline = cluster.run_recorded();
}

/// The same, at the layer whose instruction failed, where that is known.
RunFailure located(const RunFailure& failure, const PlannedFunction& function) {
  std::vector<Diagnostic> diagnostics = failure.diagnostics();
  if (failure.at().index < 0) return failure;
  const Instruction& failed = function.program.bodies[static_cast<std::size_t>(failure.at().body)]
                                  .instructions[static_cast<std::size_t>(failure.at().index)];
  if (failed.node == NodeId::none) return failure;
  for (Diagnostic& diagnostic : diagnostics) {
    if (!diagnostic.at.is_known()) diagnostic.at = function.sharded.graph.node(failed.node).at;
  }
  return RunFailure(std::move(diagnostics), failure.at());
}

}  // namespace

FunctionOutcome run_function(Cluster& cluster, const PlannedFunction& function,
                             const std::string& title, const RunArrays& arrays, int compared_steps,
                             const Options& options, Progress& progress) {
  const Graph& graph = function.sharded.given();
  FunctionOutcome outcome;
  outcome.run.title = title;
  outcome.run.function = &function;
  outcome.run.compared_steps = compared_steps;
  feed(cluster, graph, arrays);
  try {
    if (compared_steps > 0) {
      compare_steps(cluster, function, arguments_of(graph, arrays), progress, outcome);
    }
    time_and_count(cluster, options, progress, outcome.run);
  } catch (const RunFailure& failure) {
    throw located(failure, function);
  }
  return outcome;
}

}  // namespace shard
