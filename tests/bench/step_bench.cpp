// The guide's train step and inference as `run` executes them.

#include <benchmark/benchmark.h>

#include <string>

#include "bench/plan_guide.h"
#include "exec/cluster.h"
#include "exec/initial.h"

namespace shard::bench {
namespace {

void step(benchmark::State& state, const Overrides& overrides, bool is_train_step) {
  const Program program = plan_guide(overrides, is_train_step);
  ClusterOptions options;
  options.has_guards = false;
  Cluster cluster(program, options);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (!info(program.inputs[i].global.dtype).is_float) continue;
    cluster.fill_input(i, {"normal", 0.02}, 0, program.inputs[i].path);
  }
  cluster.set_profiling(false);
  for (auto _ : state) cluster.run();
}

Overrides on_mesh(const std::string& mesh) {
  Overrides overrides;
  overrides.mesh = mesh;
  return overrides;
}

void guide_train_step(benchmark::State& state) { step(state, {}, true); }
void guide_train_step_of_64(benchmark::State& state) {
  step(state, on_mesh("data=2,model=32"), true);
}
void guide_train_step_of_512(benchmark::State& state) {
  step(state, on_mesh("data=2,model=256"), true);
}
/// Small arrays: what a collective and an instruction cost by themselves.
void small_train_step_of_512(benchmark::State& state) {
  Overrides overrides = on_mesh("data=32,model=16");
  overrides.set = {"batch=32", "embed=256", "hidden=256"};
  step(state, overrides, true);
}
void guide_inference(benchmark::State& state) { step(state, {}, false); }
BENCHMARK(guide_train_step)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(guide_train_step_of_64)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(guide_train_step_of_512)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(small_train_step_of_512)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(guide_inference)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shard::bench
