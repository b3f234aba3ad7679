#include "cli/run_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/reference.h"

namespace shard {
namespace {

/// Steps after which the counters are read when nothing is timed.
constexpr int counted_steps_without_timing = 1;

/// How far a result may be from the reference, relative to its largest magnitude. The executor adds
/// in another order and in the array's own precision, the reference in double: for k additions the
/// difference grows like k * epsilon, and a step that divides by a small root enlarges it.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-10;
    case DType::f32:
      return 1e-5;
    case DType::f16:
      return 1e-2;
    case DType::bf16:
      return 5e-2;
    default:
      return 0;
  }
}

void feed(Cluster& cluster, const std::vector<HostTensor>& arguments) {
  for (std::size_t input = 0; input < arguments.size(); ++input) {
    cluster.write_input(input, arguments[input]);
  }
}

std::vector<HostTensor> read_results(const Cluster& cluster, const Program& program) {
  std::vector<HostTensor> results;
  for (std::size_t output = 0; output < program.outputs.size(); ++output) {
    const int donated = program.outputs[output].donates;
    results.push_back(donated >= 0 ? cluster.read_input(static_cast<std::size_t>(donated))
                                   : cluster.read_output(output));
  }
  return results;
}

/// The results of `steps` steps of the whole graph on one imaginary device.
std::vector<HostTensor> reference_results(const Graph& graph, std::vector<HostTensor> arguments,
                                          int steps, Progress& progress) {
  std::vector<HostTensor> results;
  for (int step = 0; step < steps; ++step) {
    progress.say(
        fmt::format("unsharded reference of {}, step {} of {}", graph.name, step + 1, steps));
    results = run_reference(graph, arguments);
    if (step + 1 == steps) break;
    for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
      const int leaf = graph.outputs[output].state_leaf;
      if (leaf < 0) continue;
      const auto fed =
          std::find_if(graph.inputs.begin(), graph.inputs.end(),
                       [&](const GraphInput& input) { return input.state_leaf == leaf; });
      if (fed == graph.inputs.end()) continue;
      arguments[static_cast<std::size_t>(fed - graph.inputs.begin())] = std::move(results[output]);
    }
  }
  return results;
}

std::vector<Difference> differences(const Graph& graph, const std::vector<HostTensor>& actual,
                                    const std::vector<HostTensor>& expected) {
  std::vector<Difference> all;
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    all.push_back(compare(graph.outputs[output].path, actual[output], expected[output],
                          tolerance_of(expected[output].type.dtype)));
  }
  return all;
}

void keep_results(const Graph& graph, std::vector<HostTensor> results, FunctionOutcome& outcome) {
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    auto& list = graph.outputs[output].state_leaf >= 0 ? outcome.state : outcome.results;
    list.push_back({graph.outputs[output].path, std::move(results[output])});
  }
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
}

}  // namespace

FunctionOutcome run_function(const PlannedFunction& function, const std::string& title,
                             const RunArrays& arrays, int compared_steps, const Options& options,
                             Progress& progress) {
  const Graph& graph = function.sharded.graph;
  FunctionOutcome outcome;
  outcome.run.title = title;
  outcome.run.function = &function;
  outcome.run.compared_steps = compared_steps;
  Cluster cluster(function.program, {options.workers});
  outcome.workers = cluster.workers();
  const std::vector<HostTensor> arguments = arguments_of(graph, arrays);
  feed(cluster, arguments);
  for (int step = 0; step < compared_steps; ++step) cluster.run();
  if (compared_steps > 0) {
    std::vector<HostTensor> results = read_results(cluster, function.program);
    outcome.run.differences =
        differences(graph, results, reference_results(graph, arguments, compared_steps, progress));
    keep_results(graph, std::move(results), outcome);
  }
  time_and_count(cluster, options, progress, outcome.run);
  return outcome;
}

}  // namespace shard
