// What a rendezvous costs: devices that add a few numbers again and again.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/scheduler.h"

namespace shard::bench {
namespace {

constexpr std::int64_t rounds = 100;

void rendezvous(benchmark::State& state) {
  const std::int64_t devices = state.range(0), count = state.range(1);
  std::vector<std::vector<float>> arenas(static_cast<std::size_t>(devices),
                                         std::vector<float>(static_cast<std::size_t>(count), 0.0F));
  std::vector<std::int64_t> everybody(static_cast<std::size_t>(devices));
  for (std::size_t i = 0; i < everybody.size(); ++i) everybody[i] = static_cast<std::int64_t>(i);
  std::vector<CollectiveSite> sites;
  sites.push_back(make_site(0, CollectiveKind::all_reduce, "all_reduce", {everybody}, devices,
                            [&](std::size_t) -> std::shared_ptr<const CollectiveWork> {
                              CollectiveShape shape;
                              shape.reduction = Reduction::sum;
                              shape.operand = shape.result = {DType::f32, {count}};
                              shape.members = static_cast<int>(devices);
                              return make_collective(shape);
                            }));
  sites.back().counter = 0;
  StreamInstruction meet;
  meet.kind = StreamInstruction::Kind::collective;
  meet.operands = meet.results = {{0, count * 4, {}}};
  meet.site = 0;
  Stream stream;
  stream.instructions.assign(static_cast<std::size_t>(rounds), meet);
  std::vector<DeviceState> states;
  for (std::vector<float>& arena : arenas) {
    DeviceState device;
    device.stream = &stream;
    device.base = reinterpret_cast<std::byte*>(arena.data());
    states.push_back(device);
  }
  WorkerPool pool(static_cast<int>(state.range(2)));
  Scheduler scheduler(pool, std::move(states), std::move(sites), 1);
  scheduler.set_profiling(false);
  for (auto _ : state) scheduler.run();
  state.counters["us/round"] = benchmark::Counter(
      static_cast<double>(rounds) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(rendezvous)
    ->ArgNames({"devices", "floats", "workers"})
    ->ArgsProduct({{8, 64, 512}, {1, 1024}, {1, 2}})
    ->Args({8, 1 << 18, 1})
    ->Args({8, 1 << 18, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shard::bench
