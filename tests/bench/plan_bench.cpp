// Planning the train step of Llama 3.1 405B on 16,384 devices, each figure beside its bar: what
// propagation, partitioning and the memory plan take together, the program being built already.
// Beside the median stand the first plan, which touches its memory for the first time, and the
// processor's own time: where it is below the median, something else had the processor.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "cli/plan_functions.h"
#include "config/load.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"

namespace shard::bench {
namespace {

constexpr int runs = 7;

ModelConfig llama(bool is_scanned, int layers) {
  DiskReader disk;
  Sources sources(disk);
  Overrides overrides;
  overrides.size_set = "405b";
  overrides.set = {"layers=" + std::to_string(layers)};
  if (!is_scanned) overrides.set.emplace_back("layers.2.repeat.scan=false");
  return read_model(
      merge_model_file(std::string(SHARD_SOURCE_DIR) + "/models/llama.yaml", overrides, sources));
}

RulesConfig rules_on_16384_devices() {
  DiskReader disk;
  Sources sources(disk);
  Overrides overrides;
  overrides.mesh = "data=16,fsdp=128,tensor=8";
  return read_rules(
      merge_rules_file(std::string(SHARD_SOURCE_DIR) + "/rules/fsdp_tp.yaml", overrides, sources));
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// Milliseconds.
struct Took {
  double wall = 0;
  double processor = 0;
};

template <class Work>
Took time_of(const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr double in_milliseconds = 1000.0 / CLOCKS_PER_SEC;
  const std::clock_t ticks = std::clock();
  const auto begin = Clock::now();
  work();
  const auto end = Clock::now();
  return {std::chrono::duration<double, std::milli>(end - begin).count(),
          static_cast<double>(std::clock() - ticks) * in_milliseconds};
}

/// What several runs took.
struct Runs {
  std::vector<double> wall;
  std::vector<double> processor;
};

Runs several(const std::function<Took()>& run) {
  Runs all;
  for (int i = 0; i < runs; ++i) {
    const Took took = run();
    all.wall.push_back(took.wall);
    all.processor.push_back(took.processor);
  }
  return all;
}

void say(const std::string& name, double found, double bar, const char* unit,
         const std::string& beside = "") {
  fmt::print("{:<36} {:>9.2f} {:<2} bar {:>6} {:<6}{}\n", name, found, unit, bar,
             found < bar ? "ok" : "MISSED", beside);
}

void say(const std::string& name, const Runs& found, double bar) {
  say(name, median(found.wall), bar, "ms",
      fmt::format(" first {:.2f} ms, processor {:.2f} ms", found.wall.front(),
                  median(found.processor)));
}

/// The train step planned as it stands.
Runs plan_whole(const Graph& graph, const RulesConfig& rules, const Mesh& mesh) {
  return several([&] {
    Graph copy = graph;
    return time_of([&] { partition(shard_graph(std::move(copy), rules, mesh)); });
  });
}

/// The processor's time of one plan over that of the other, which take turns: how busy the machine
/// is otherwise does not tell.
double growth(const Graph& whole, const Graph& half, const RulesConfig& rules, const Mesh& mesh) {
  const auto processor = [&](const Graph& graph) {
    Graph copy = graph;
    return time_of([&] { partition(shard_graph(std::move(copy), rules, mesh)); }).processor;
  };
  std::vector<double> ratios;
  for (int i = 0; i < runs; ++i) {
    const double all = processor(whole);
    ratios.push_back(all / processor(half));
  }
  return median(std::move(ratios));
}

/// With equal iterations planned once, and shown to be equal.
Runs plan_folds(const ModelConfig& config, const RulesConfig& rules, const Mesh& mesh) {
  constexpr int ends = 2;  // as `plan` tries first
  const Model model = build_model(config, {true, -1, ends});
  std::vector<Graph> widened;
  for (const Iteration& fold : model.folded) {
    widened.push_back(*build_model(config, {true, fold.repeat, ends}).train_step);
  }
  return several([&] {
    Graph graph = *model.train_step;
    std::vector<Graph> wide = widened;
    bool is_planned = false;
    const Took took = time_of([&] {
      is_planned =
          plan_folded(std::move(graph), std::move(wide), model.folded, rules, mesh, Fusion::on)
              .has_value();
    });
    if (!is_planned) fmt::print("the iterations are not equal\n");
    return took;
  });
}

void figures() {
  constexpr int layers = 126;
  constexpr double growth_bar = 2.4;  // twice the layers: linear, with some noise
  const RulesConfig rules = rules_on_16384_devices();
  const Mesh mesh = make_mesh(rules);
  const Graph scanned = *build_model(llama(true, layers)).train_step;
  say(fmt::format("scanned, {} nodes", scanned.nodes.size()), plan_whole(scanned, rules, mesh), 20);
  say("unrolled and folded", plan_folds(llama(false, layers), rules, mesh), 40);
  const Graph whole = *build_model(llama(false, layers)).train_step;
  say(fmt::format("unrolled, --no-fold, {} nodes", whole.nodes.size()),
      plan_whole(whole, rules, mesh), 1000);
  const Graph half = *build_model(llama(false, layers / 2)).train_step;
  say("  over half as many layers", growth(whole, half, rules, mesh), growth_bar, "x");
}

}  // namespace
}  // namespace shard::bench

int main() { shard::bench::figures(); }
