// Planning reshards: the moves of a recording, or random ones. Median and worst are what counts.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "shard/recorded_program.h"
#include "shard/sharding_text.h"
#include "spmd/cheapest_reshard.h"

namespace shard::bench {
namespace {

struct Move {
  Mesh mesh;
  TensorType type;
  Sharding from, to;
};

Mesh mesh_with(const std::vector<std::int64_t>& sizes) {
  std::vector<MeshAxisInfo> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    axes.push_back({MeshAxis(std::string(1, static_cast<char>('a' + i))), sizes[i], {}});
  return Mesh(axes);
}

/// Axes in random order, each on a random dim or on none, as the recorded moves are made.
Sharding random_split(std::mt19937_64& rng, const Mesh& mesh, const Shape& shape) {
  for (;;) {
    Sharding sharding = replicated_sharding(static_cast<int>(shape.size()));
    std::vector<int> axes(mesh.axes().size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
    std::shuffle(axes.begin(), axes.end(), rng);
    for (const int axis : axes) {
      if (rng() % 4 == 0) continue;
      sharding.dims[rng() % shape.size()].axes.push_back(mesh.full(axis));
    }
    if (divides_evenly(shape, sharding)) return sharding;
  }
}

std::vector<Move> random_moves(const std::vector<std::vector<std::int64_t>>& meshes,
                               const Shape& shape) {
  std::mt19937_64 rng(1);
  std::vector<Move> moves;
  while (moves.size() < 500) {
    const Mesh mesh = mesh_with(meshes[moves.size() % meshes.size()]);
    Sharding from = random_split(rng, mesh, shape), to = random_split(rng, mesh, shape);
    if (from == to) continue;
    moves.push_back({mesh, TensorType{DType::f32, shape}, std::move(from), std::move(to)});
  }
  return moves;
}

void plan_all(benchmark::State& state, const std::vector<Move>& moves) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> best(moves.size(), 1e9);
  std::int64_t proved = 0;
  for (auto _ : state) {
    proved = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const Move& move = moves[i];
      const auto begin = Clock::now();
      const auto plan = cheapest_reshard(move.mesh, move.type, move.from, move.to);
      const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
      best[i] = std::min(best[i], took.count());
      if (plan->wire == plan->lower_bound) ++proved;
    }
  }
  std::sort(best.begin(), best.end());
  state.counters["median_us"] = best[best.size() / 2];
  state.counters["worst_us"] = best.back();
  state.counters["proved"] = static_cast<double>(proved) / static_cast<double>(moves.size());
}

/// Each recorded move, and each part of one that goes by way of others.
std::vector<Move> recorded_moves() {
  std::vector<Move> moves;
  const auto cases = tests::read_goldens("auto/reshard.json");
  for (const tests::json& one : cases.value_or(tests::json::array())) {
    const Mesh mesh = tests::mesh_of(one.at("mesh"));
    const Mesh last = one.contains("to_mesh") ? tests::mesh_of(one.at("to_mesh")) : mesh;
    const TensorType type{DType::f32, one.at("shape").get<Shape>()};
    std::vector<Sharding> stops{tests::read_sharding(mesh, one.at("from").get<std::string>())};
    for (const tests::json& stop : one.value("via", tests::json::array()))
      stops.push_back(tests::read_sharding(mesh, stop.get<std::string>()));
    const Sharding to = tests::read_sharding(last, one.at("to").get<std::string>());
    stops.push_back(sharding_on(mesh, hlo_sharding(last, to), to.rank()).value());
    for (std::size_t i = 1; i < stops.size(); ++i)
      moves.push_back({mesh, type, stops[i - 1], stops[i]});
  }
  return moves;
}

void recorded_reshards(benchmark::State& state) { plan_all(state, recorded_moves()); }
BENCHMARK(recorded_reshards)->Unit(benchmark::kMillisecond)->Iterations(5);

void reshards_on_8_devices(benchmark::State& state) {
  plan_all(state, random_moves({{4, 2}, {2, 4}, {2, 2, 2}}, {16, 8, 32}));
}
BENCHMARK(reshards_on_8_devices)->Unit(benchmark::kMillisecond)->Iterations(5);

void reshards_on_1024_devices(benchmark::State& state) {
  plan_all(state, random_moves({{16, 64}, {4, 16, 16}, {2, 8, 8, 8}}, {1024, 4096, 1024}));
}
BENCHMARK(reshards_on_1024_devices)->Unit(benchmark::kMillisecond)->Iterations(3);

void reshards_on_65536_devices(benchmark::State& state) {
  plan_all(state, random_moves({{16, 64, 64}, {4, 16, 16, 64}, {256, 256}}, {65536, 65536, 65536}));
}
BENCHMARK(reshards_on_65536_devices)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace shard::bench
