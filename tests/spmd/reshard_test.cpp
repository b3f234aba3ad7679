// Single reshards: steps, payload and wire bytes, and the way around uneven parts.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "shard/recorded_program.h"
#include "spmd/axes.h"
#include "spmd/reshard.h"
#include "spmd/words.h"

using namespace shard;
using namespace shard::tests;

namespace {

Mesh mesh_of_twos() {
  return Mesh({{MeshAxis("x"), 2, {}}, {MeshAxis("y"), 2, {}}, {MeshAxis("z"), 2, {}}});
}

/// `all_gather {x} dim 0 payload 8 wire 4 -> [{}, {}]`, one line per step.
std::string steps_text(const Mesh& mesh, const std::vector<ReshardStep>& steps) {
  std::string text;
  for (const ReshardStep& step : steps) {
    const Collective& collective = step.collective;
    text += std::string(name(collective.kind)) + " {";
    for (const AxisRef& axis : collective.axes)
      text += (text.back() == '{' ? "" : ", ") + to_string(mesh, axis);
    text += "}";
    if (collective.dim >= 0) text += " dim " + std::to_string(collective.dim);
    if (collective.split_dim >= 0) text += " split " + std::to_string(collective.split_dim);
    text += " payload " + std::to_string(collective.payload.count()) + " wire " +
            std::to_string(collective.wire.count()) + " -> " + recorded_form(mesh, step.after) +
            "\n";
  }
  return text;
}

std::string planned_steps(const Mesh& mesh, const Shape& shape, const std::string& from,
                          const std::string& to) {
  return steps_text(mesh, plan_reshard(mesh, {DType::f32, shape}, read_sharding(mesh, from),
                                       read_sharding(mesh, to)));
}

std::string planned_steps(const std::string& from, const std::string& to) {
  const bool is_matrix = std::count(from.begin(), from.end(), '{') == 2;
  return planned_steps(mesh_of_twos(), is_matrix ? Shape{8, 8} : Shape{8, 8, 8}, from, to);
}

}  // namespace

TEST_CASE("equal shardings need no step") {
  CHECK(planned_steps("[{x}, {y}]", "[{x}, {y}]").empty());
  CHECK(planned_steps("[{x, ?}, {?}]", "[{x}, {}]").empty());
  const Mesh mesh({{MeshAxis("one"), 1, {}}, {MeshAxis("x"), 2, {}}});
  CHECK(planned_steps(mesh, {8}, "[{one, x}]", "[{x}]").empty());
}

TEST_CASE("reshards become the cheap collectives") {
  CHECK(planned_steps("[{y, x}, {}]", "[{y}, {}]") ==
        "all_gather {x} dim 0 payload 128 wire 64 -> [{y}, {}]\n");
  CHECK(planned_steps("[{}, {}]", "[{x}, {y, z}]") ==
        "all_slice {x} dim 0 payload 256 wire 0 -> [{x}, {}]\n"
        "all_slice {y, z} dim 1 payload 128 wire 0 -> [{x}, {y, z}]\n");
  CHECK(planned_steps("[{x}, {y}, {}]", "[{}, {y}, {x}]") ==
        "all_to_all {x} dim 0 split 2 payload 512 wire 256 -> [{}, {y}, {x}]\n");
  CHECK(planned_steps("[{z}, {y}]", "[{z}, {x}]") ==
        "collective_permute {x, y} payload 64 wire 64 -> [{z}, {x}]\n");
  CHECK(planned_steps("[{x, y}, {}]", "[{z}, {}]") ==
        "collective_permute {x, y, z} payload 64 wire 64 -> [{z, y}, {}]\n"
        "all_gather {y} dim 0 payload 128 wire 64 -> [{z}, {}]\n");
  CHECK(planned_steps("[{}, {x, y}, {}]", "[{x}, {}, {y, z}]") ==
        "all_slice {z} dim 1 payload 512 wire 0 -> [{}, {x, y, z}, {}]\n"
        "all_to_all {y, z} dim 1 split 2 payload 256 wire 192 -> [{}, {x}, {y, z}]\n"
        "all_to_all {x} dim 1 split 0 payload 256 wire 128 -> [{x}, {}, {y, z}]\n");
}

TEST_CASE("several dims are gathered one after the other") {
  CHECK(planned_steps("[{x}, {y}]", "[{}, {}]") ==
        "all_gather {x} dim 0 payload 128 wire 64 -> [{}, {y}]\n"
        "all_gather {y} dim 1 payload 256 wire 128 -> [{}, {}]\n");
}

TEST_CASE("parts of an axis move alone") {
  const Mesh mesh({{MeshAxis("x"), 4, {}}});
  CHECK(planned_steps(mesh, {8}, "[{x}]", "[{x:(1)2}]") ==
        "all_gather {x:(2)2} dim 0 payload 16 wire 8 -> [{x:(1)2}]\n");
  CHECK(planned_steps(mesh, {8}, "[{x:(1)2}]", "[{x}]") ==
        "all_slice {x:(2)2} dim 0 payload 16 wire 0 -> [{x}]\n");
}

TEST_CASE("parts of an axis that do not nest are gathered and sliced") {
  const Mesh mesh({{MeshAxis("x"), 6, {}}});
  CHECK(planned_steps(mesh, {6, 6}, "[{x:(1)2}, {}]", "[{x:(1)3}, {}]") ==
        "all_gather {x:(1)2} dim 0 payload 144 wire 72 -> [{}, {}]\n"
        "all_slice {x:(1)3} dim 0 payload 144 wire 0 -> [{x:(1)3}, {}]\n");
}

TEST_CASE("a partial sum is reduced first") {
  const Mesh mesh = mesh_of_twos();
  Sharding partial = read_sharding(mesh, "[{x}, {}]");
  partial.unreduced = {mesh.full(1)};
  const auto steps =
      plan_reshard(mesh, {DType::f32, {8, 8}}, partial, read_sharding(mesh, "[{x}, {y}]"));
  CHECK(steps_text(mesh, steps) ==
        "all_reduce {y} payload 128 wire 128 -> [{x}, {}]\n"
        "all_slice {y} dim 1 payload 128 wire 0 -> [{x}, {y}]\n");
}

TEST_CASE("wire bytes are those of the best algorithms") {
  CHECK(wire_bytes(CollectiveKind::all_reduce, Bytes(800), 8) == Bytes(1400));
  CHECK(wire_bytes(CollectiveKind::all_gather, Bytes(100), 8) == Bytes(700));
  CHECK(wire_bytes(CollectiveKind::reduce_scatter, Bytes(800), 8) == Bytes(700));
  CHECK(wire_bytes(CollectiveKind::all_to_all, Bytes(800), 8) == Bytes(700));
  CHECK(wire_bytes(CollectiveKind::collective_permute, Bytes(800), 8) == Bytes(800));
  CHECK(wire_bytes(CollectiveKind::all_slice, Bytes(800), 8) == Bytes(0));
}

TEST_CASE("every random reshard ends at its goal in even parts") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const Mesh mesh({{MeshAxis("x"), 2 + static_cast<std::int64_t>(rng() % 3), {}},
                     {MeshAxis("y"), 4, {}},
                     {MeshAxis("z"), 2, {}}});
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
    const Sharding from = random_sharding(), to = random_sharding();
    Sharding now = from;
    for (const ReshardStep& step : plan_reshard(mesh, {DType::f32, shape}, from, to)) {
      CHECK(divides_evenly(shape, step.after));
      now = step.after;
    }
    CHECK(is_equivalent(mesh, now, to));
  }
}
