#include "cli/compare_run.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/diagnostic.h"
#include "cli/cluster_choice.h"
#include "cli/progress.h"
#include "cli/run_arrays.h"
#include "exec/cluster.h"

namespace shard {
namespace {

std::unique_ptr<Cluster> loaded_cluster(const Plan& plan, const Options& options) {
  auto cluster = std::make_unique<Cluster>(plan.main().program,
                                           cluster_choice(options, plan.mesh.device_count()));
  const std::int64_t seed = options.seed >= 0 ? options.seed : plan.seed;
  const std::vector<HostTensor> arguments =
      arguments_of(plan.main().sharded.graph, make_arrays(plan, options, seed));
  for (std::size_t input = 0; input < arguments.size(); ++input) {
    cluster->write_input(input, arguments[input]);
  }
  return cluster;
}

}  // namespace

Timing joined(const std::vector<Timing>& runs) {
  Timing all;
  all.runs = static_cast<int>(runs.size());
  all.loops = runs.front().loops;
  std::vector<double> means;
  for (const Timing& run : runs) {
    means.push_back(run.mean.value);
    all.mean.value += run.mean.value / static_cast<double>(runs.size());
    all.others_cpu = std::max(all.others_cpu, run.others_cpu);
    all.stolen_cpu = std::max(all.stolen_cpu, run.stolen_cpu);
  }
  for (const double mean : means) {
    all.deviation.value += (mean - all.mean.value) * (mean - all.mean.value);
  }
  all.deviation.value = std::sqrt(all.deviation.value / static_cast<double>(runs.size()));
  std::sort(means.begin(), means.end());
  const std::size_t middle = means.size() / 2;
  all.median.value =
      means.size() % 2 == 1 ? means[middle] : (means[middle - 1] + means[middle]) / 2;
  all.minimum.value = means.front();
  return all;
}

std::vector<Timing> time_alternating(const std::vector<Plan>& plans, const Options& options) {
  Progress progress(options);
  std::vector<std::unique_ptr<Cluster>> clusters;
  for (const Plan& plan : plans) {
    if (!plan.model.has_program) {
      throw Error("no-program", {"--run"}, "'" + plan.model.name + "' is a list of arrays",
                  "only a model with layers can be run");
    }
    clusters.push_back(loaded_cluster(plan, options));
  }
  std::vector<std::vector<Timing>> runs(plans.size());
  for (int run = 0; run < options.runs; ++run) {
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
      progress.say("timing " + plans[plan].rules.name + ": run " + std::to_string(run + 1) +
                   " of " + std::to_string(options.runs));
      runs[plan].push_back(time_steps(*clusters[plan], 1, options.steps, {}));
    }
  }
  progress.clear();
  std::vector<Timing> times;
  for (const std::vector<Timing>& one : runs) times.push_back(joined(one));
  return times;
}

}  // namespace shard
