// The guide's train step and inference as `run` executes them.

#include <benchmark/benchmark.h>

#include "bench/plan_guide.h"
#include "exec/cluster.h"
#include "exec/initial.h"

namespace shard::bench {
namespace {

void step(benchmark::State& state, const Overrides& overrides, bool is_train_step) {
  const Program program = plan_guide(overrides, is_train_step);
  Cluster cluster(program, {});
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (!info(program.inputs[i].global.dtype).is_float) continue;
    cluster.fill_input(i, {"normal", 0.02}, 0, program.inputs[i].path);
  }
  cluster.set_profiling(false);
  for (auto _ : state) cluster.run();
}

void guide_train_step(benchmark::State& state) { step(state, {}, true); }
void guide_inference(benchmark::State& state) { step(state, {}, false); }
BENCHMARK(guide_train_step)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(guide_inference)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shard::bench
