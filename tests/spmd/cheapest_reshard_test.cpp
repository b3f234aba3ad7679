// The cheapest reshards: steps and figures, memory limits, uneven dims, sums, random pairs.

#include "spmd/cheapest_reshard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "shard/recorded_program.h"
#include "spmd/axes.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

Mesh mesh_of_sizes(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<MeshAxisInfo> infos;
  for (const auto& [name, size] : axes) infos.push_back({MeshAxis(name), size, {}});
  return Mesh(infos);
}

std::string step_text(const Mesh& mesh, const ReshardStep& step) {
  const Collective& collective = step.collective;
  std::string axes;
  for (const AxisRef& axis : collective.axes)
    axes += (axes.empty() ? "" : ", ") + to_string(mesh, axis);
  std::string text = std::string(name(collective.kind)) + " {" + axes + "}";
  if (collective.dim >= 0) text += " dim " + std::to_string(collective.dim);
  if (collective.split_dim >= 0) text += " split " + std::to_string(collective.split_dim);
  return text + " wire " + std::to_string(collective.wire.count()) + " -> " +
         recorded_form(mesh, step.after) + " of " + to_string(step.local) + "\n";
}

std::string plan_text(const Mesh& mesh, const std::optional<ReshardPlan>& plan) {
  if (!plan) return "none\n";
  std::string text;
  for (const ReshardStep& step : plan->steps) text += step_text(mesh, step);
  return text + "wire " + std::to_string(plan->wire.count()) + " peak " +
         std::to_string(plan->peak.count()) + " at least " +
         std::to_string(plan->lower_bound.count()) + "\n";
}

std::string cheapest_plan(const Mesh& mesh, const Shape& shape, const std::string& from,
                          const std::string& to, const ReshardLimits& limits = {}) {
  return plan_text(mesh, cheapest_reshard(mesh, {DType::f32, shape}, read_sharding(mesh, from),
                                          read_sharding(mesh, to), limits));
}

Sharding with_sum(Sharding sharding, const Axes& axes) {
  sharding.unreduced = axes;
  return sharding;
}

}  // namespace

TEST_CASE("equal shardings cost nothing and hold what they hold") {
  CHECK(cheapest_plan(mesh_of_sizes({{"x", 2}, {"y", 4}}), {8, 8}, "[{x}, {y}]", "[{x}, {y}]") ==
        "wire 0 peak 32 at least 0\n");
}

TEST_CASE("a reshard that only slices sends nothing") {
  CHECK(cheapest_plan(mesh_of_sizes({{"x", 2}, {"y", 4}}), {8, 8}, "[{}, {}]", "[{y}, {x}]") ==
        "all_slice {y} dim 0 wire 0 -> [{y}, {}] of 2,8\n"
        "all_slice {x} dim 1 wire 0 -> [{y}, {x}] of 2,4\n"
        "wire 0 peak 320 at least 0\n");
}

TEST_CASE("a free axis is sliced before an exchange") {
  CHECK(cheapest_plan(mesh_of_sizes({{"data", 2}, {"model", 4}}), {1024, 4096}, "[{data}, {}]",
                      "[{}, {model, data}]") ==
        "all_slice {model} dim 1 wire 0 -> [{data}, {model}] of 512,1024\n"
        "all_to_all {data} dim 0 split 1 wire 1048576 -> [{}, {model, data}] of 1024,512\n"
        "wire 1048576 peak 10485760 at least 1048576\n");
}

TEST_CASE("a sum is scattered where it ends up and reduced where it stays whole") {
  const Mesh mesh = mesh_of_sizes({{"x", 2}, {"y", 4}});
  const Axes x{mesh.full(0)};
  const auto plan_sum = [&](const std::string& from, const Axes& sums, const std::string& to) {
    return plan_text(
        mesh, cheapest_reshard(mesh, {DType::f32, {8, 8}},
                               with_sum(read_sharding(mesh, from), sums), read_sharding(mesh, to)));
  };
  CHECK(plan_sum("[{}, {}]", x, "[{x}, {}]") ==
        "reduce_scatter {x} dim 0 wire 128 -> [{x}, {}] of 4,8\n"
        "wire 128 peak 384 at least 128\n");
  CHECK(plan_sum("[{}, {}]", x, "[{}, {}]") ==
        "all_reduce {x} wire 256 -> [{}, {}] of 8,8\n"
        "wire 256 peak 512 at least 256\n");
  CHECK(plan_sum("[{}, {}]", x, "[{y}, {}]") ==
        "all_slice {y} dim 0 wire 0 -> [{y}, {}] of 2,8\n"
        "all_reduce {x} wire 64 -> [{y}, {}] of 2,8\n"
        "wire 64 peak 320 at least 64\n");
  CHECK(plan_sum("[{}, {}]", {mesh.full(0), mesh.full(1)}, "[{}, {y}]") ==
        "reduce_scatter {y} dim 1 wire 192 -> [{}, {y}] of 8,2\n"
        "all_reduce {x} wire 64 -> [{}, {y}] of 8,2\n"
        "wire 256 peak 320 at least 256\n");
}

TEST_CASE("for the same bytes the outer axes carry what is small") {
  const Mesh mesh = mesh_of_sizes({{"x", 4}, {"y", 2}, {"z", 2}});
  CHECK(cheapest_plan(mesh, {8, 8, 8}, "[{z}, {y}, {x}]", "[{}, {}, {}]") ==
        "all_gather {x} dim 2 wire 384 -> [{z}, {y}, {}] of 4,4,8\n"
        "all_gather {y} dim 1 wire 512 -> [{z}, {}, {}] of 4,8,8\n"
        "all_gather {z} dim 0 wire 1024 -> [{}, {}, {}] of 8,8,8\n"
        "wire 1920 peak 3072 at least 1920\n");
  // Less memory is needed where the last gather is the one of most parts.
  CHECK(cheapest_plan(mesh, {8, 8, 8}, "[{z}, {y}, {x}]", "[{}, {}, {}]", {Bytes(2800)}) ==
        "all_gather {z} dim 0 wire 128 -> [{}, {y}, {x}] of 8,4,2\n"
        "all_gather {y} dim 1 wire 256 -> [{}, {}, {x}] of 8,8,2\n"
        "all_gather {x} dim 2 wire 1536 -> [{}, {}, {}] of 8,8,8\n"
        "wire 1920 peak 2560 at least 1920\n");
  const Mesh two = mesh_of_sizes({{"x", 4}, {"y", 2}});
  const Axes sums{two.full(0), two.full(1)};
  CHECK(plan_text(two, cheapest_reshard(two, {DType::f32, {8, 8}},
                                        with_sum(read_sharding(two, "[{}, {}]"), sums),
                                        read_sharding(two, "[{x}, {y}]"))) ==
        "reduce_scatter {y} dim 1 wire 128 -> [{}, {y}] of 8,4\n"
        "reduce_scatter {x} dim 0 wire 96 -> [{x}, {y}] of 2,4\n"
        "wire 224 peak 384 at least 224\n");
}

TEST_CASE("a sum on large axes is cut by the pieces that the goal has without a search") {
  const Mesh mesh = mesh_of_sizes({{"data", 16}, {"fsdp", 128}, {"tensor", 8}});
  const ReshardLimits limits{Bytes(0), 0, false, false};  // no layout may be looked at
  const auto plan_sum = [&](const Shape& shape, const std::string& from, const Axes& sums,
                            const std::string& to) {
    return plan_text(
        mesh, cheapest_reshard(mesh, {DType::f32, shape}, with_sum(read_sharding(mesh, from), sums),
                               read_sharding(mesh, to), limits));
  };
  CHECK(plan_sum({16384, 128, 128}, "[{}, {tensor}, {}]", {mesh.full(0), mesh.full(1)},
                 "[{fsdp}, {tensor}, {}]") ==
        "reduce_scatter {fsdp} dim 0 wire 133169152 -> [{fsdp}, {tensor}, {}] of 128,16,128\n"
        "all_reduce {data} wire 1966080 -> [{fsdp}, {tensor}, {}] of 128,16,128\n"
        "wire 135135232 peak 135266304 at least 135135232\n");
  CHECK(plan_sum({2048, 8192, 16384}, "[{}, {}, {}]", {mesh.full(2)}, "[{data, fsdp}, {}, {}]") ==
        "all_slice {data, fsdp} dim 0 wire 0 -> [{data, fsdp}, {}, {}] of 1,8192,16384\n"
        "all_reduce {tensor} wire 939524096 -> [{data, fsdp}, {}, {}] of 1,8192,16384\n"
        "wire 939524096 peak 1100048498688 at least 939524096\n");
}

TEST_CASE("a way that is known is answered by nothing where none sends less") {
  const Mesh mesh = mesh_of_sizes({{"x", 2}, {"y", 4}});
  const TensorType type{DType::f32, {8, 8}};
  const Sharding from = read_sharding(mesh, "[{x}, {}]"), to = read_sharding(mesh, "[{}, {x}]");
  const std::optional<ReshardPlan> best = cheapest_reshard(mesh, type, from, to);
  REQUIRE(best.has_value());
  ReshardLimits limits;
  limits.below = best->wire;
  CHECK_FALSE(cheapest_reshard(mesh, type, from, to, limits).has_value());
  limits.below = best->wire + Bytes(1);
  CHECK(plan_text(mesh, cheapest_reshard(mesh, type, from, to, limits)) == plan_text(mesh, best));
}

TEST_CASE("a memory limit takes another way or says that there is none") {
  const Mesh mesh = mesh_of_sizes({{"x", 2}, {"y", 4}});
  CHECK(cheapest_plan(mesh, {8, 8}, "[{x}, {}]", "[{}, {x}]", {Bytes(256)}) ==
        "all_to_all {x} dim 0 split 1 wire 64 -> [{}, {x}] of 8,4\n"
        "wire 64 peak 256 at least 64\n");
  CHECK(cheapest_plan(mesh, {8, 8}, "[{x}, {}]", "[{}, {x}]", {Bytes(200)}) ==
        "all_slice {y:(1)2} dim 0 wire 0 -> [{x, y:(1)2}, {}] of 2,8\n"
        "all_to_all {x, y:(1)2} dim 0 split 1 wire 48 -> [{}, {x, y:(1)2}] of 8,2\n"
        "all_gather {y:(1)2} dim 1 wire 64 -> [{}, {x}] of 8,4\n"
        "wire 112 peak 192 at least 112\n");
  CHECK(cheapest_plan(mesh, {8, 8}, "[{x}, {}]", "[{}, {x}]", {Bytes(100)}) == "none\n");
}

TEST_CASE("dims that do not divide are padded and padded anew when they are whole") {
  const Mesh mesh = mesh_of_sizes({{"x", 2}, {"y", 4}});
  CHECK(cheapest_plan(mesh, {7}, "[{x}]", "[{x, y}]") ==
        "all_slice {y} dim 0 wire 0 -> [{x, y}] of 1\n"
        "wire 0 peak 20 at least 0\n");
  CHECK(cheapest_plan(mesh, {9, 8}, "[{y}, {}]", "[{}, {y}]") ==
        "all_to_all {y} dim 0 split 1 wire 72 -> [{}, {y}] of 9,2\n"
        "wire 72 peak 168 at least 72\n");
  CHECK(cheapest_plan(mesh, {9, 8}, "[{y}, {}]", "[{y, x}, {}]") ==
        "all_slice {x} dim 1 wire 0 -> [{y}, {x}] of 3,4\n"
        "all_to_all {y} dim 0 split 1 wire 36 -> [{}, {x, y}] of 9,1\n"
        "all_to_all {y} dim 1 split 0 wire 27 -> [{y}, {x}] of 4,4\n"
        "all_to_all {x} dim 1 split 0 wire 32 -> [{y, x}, {}] of 2,8\n"
        "wire 95 peak 144 at least 95\n");
}

TEST_CASE("axes that are cut in ways that do not nest are gathered and sliced") {
  CHECK(cheapest_plan(mesh_of_sizes({{"x", 6}}), {6, 6}, "[{x:(1)2}, {}]", "[{x:(1)3}, {}]") ==
        "all_gather {x:(1)2} dim 0 wire 72 -> [{}, {}] of 6,6\n"
        "all_slice {x:(1)3} dim 0 wire 0 -> [{x:(1)3}, {}] of 2,6\n"
        "wire 72 peak 216 at least 0\n");
}

TEST_CASE("many axes of many devices are planned as quickly as few") {
  const Mesh mesh = mesh_of_sizes({{"data", 64}, {"fsdp", 64}, {"model", 16}});
  CHECK(cheapest_plan(mesh, {65536, 65536}, "[{data, fsdp}, {model}]", "[{data}, {fsdp, model}]") ==
        "all_to_all {model} dim 1 split 0 wire 245760 -> [{data, fsdp, model}, {}] of 1,65536\n"
        "all_to_all {fsdp, model} dim 0 split 1 wire 261888 -> [{data}, {fsdp, model}] of 1024,64\n"
        "wire 507648 peak 524288 at least 507648\n");
}

TEST_CASE("random cheapest reshards end at their goal and send no more than Shardys") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const Mesh mesh =
        mesh_of_sizes({{"x", 2 + static_cast<std::int64_t>(rng() % 3)}, {"y", 4}, {"z", 2}});
    const Shape shape = {48, 24, 12};
    const auto random_sharding = [&] {
      for (;;) {
        Sharding sharding = replicated_sharding(3);
        for (const int axis : {0, 1, 2}) {
          const std::uint64_t dim = rng() % 4;
          AxisRef ref = mesh.full(axis);
          if (axis == 1 && rng() % 2 == 0) ref = {1, 1, 2};
          if (dim < 3) sharding.dims[dim].axes.push_back(ref);
        }
        if (divides_evenly(shape, sharding)) return sharding;
      }
    };
    const TensorType type{DType::f32, shape};
    const Sharding from = random_sharding(), to = random_sharding();
    const ReshardPlan plan = *cheapest_reshard(mesh, type, from, to);
    Sharding now = from;
    for (const ReshardStep& step : plan.steps) {
      CHECK(step.local == local_shape(shape, step.after));
      now = step.after;
    }
    CHECK(is_equivalent(mesh, now, to));
    CHECK(plan.wire == plan.lower_bound);
    CHECK(plan.wire <= weighed(type, from, plan_reshard(mesh, type, from, to)).wire);
  }
}
