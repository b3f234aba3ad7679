// Loops that wait for memory: the optimizer, the all-reduce of many arrays, elementwise.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "bench/memory.h"
#include "exec/simd.h"

namespace shard::bench {
namespace {

void set_bytes(benchmark::State& state, std::int64_t each) {
  state.SetBytesProcessed(state.iterations() * each);
}

void adam(benchmark::State& state) {
  const std::int64_t count = state.range(0);
  Floats p(count), m(count), v(count), g(count);
  const AdamNumbers numbers{1e-3F, 0.9F, 0.999F, 0.1F, 0.001F, 1e-8F, 0, 0, 0.1F, 0.001F};
  for (auto _ : state) {
    update_loops().adam({p.data(), m.data(), v.data(), g.data(), p.data(), m.data(), v.data()},
                        numbers, static_cast<std::size_t>(count));
  }
  set_bytes(state, 28 * count);
}
BENCHMARK(adam)->Arg(1 << 16)->Arg(1 << 18)->Arg(1 << 24);

void streams(benchmark::State& state) {
  const std::int64_t members = state.range(0), count = state.range(1);
  std::vector<Floats> arrays;
  std::vector<const float*> in;
  std::vector<float*> out;
  for (std::int64_t i = 0; i < members; ++i) {
    arrays.emplace_back(count);
    in.push_back(arrays.back().data());
    out.push_back(arrays.back().data());
  }
  for (auto _ : state) {
    reduction_loops().streams_sum(in.data(), out.data(), static_cast<int>(members),
                                  static_cast<std::size_t>(count));
  }
  set_bytes(state, 8 * members * count);
}
BENCHMARK(streams)->ArgsProduct({{2, 4, 8}, {1 << 12, 1 << 18, 1 << 22}});

void relu(benchmark::State& state) {
  const std::int64_t count = state.range(0);
  Floats x(count);
  for (auto _ : state) {
    elementwise_loops().relu(x.data(), x.data(), static_cast<std::size_t>(count), 0);
  }
  set_bytes(state, 8 * count);
}
BENCHMARK(relu)->Arg(1 << 12)->Arg(1 << 22);

}  // namespace
}  // namespace shard::bench
