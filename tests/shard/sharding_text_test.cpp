#include "shard/sharding_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "shard/axes.h"
#include "shard/sdy_text.h"

using namespace shard;

namespace {

const Mesh m24({{MeshAxis("data"), 2}, {MeshAxis("model"), 4}});

std::string read(const std::string& text, int rank = 2, const Mesh& mesh = m24) {
  try {
    return to_string(mesh, read_sharding_text(mesh, text, rank, {"--spec", 1, 1}));
  } catch (const Error& problem) {
    return problem.what();
  }
}

}  // namespace

TEST_CASE("XLA's tiles become axes of the mesh") {
  CHECK(read("{devices=[2,4]<=[8]}") == R"([{"data"}, {"model"}])");
  CHECK(read("{devices=[4,2]<=[2,4]T(1,0)}") == R"([{"model"}, {"data"}])");
  CHECK(read("{devices=[8,1]<=[8]}") == R"([{"data", "model"}, {}])");
  CHECK(read("{devices=[8,1]<=[2,4]T(1,0)}") == R"([{"model", "data"}, {}])");
  CHECK(read("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}") == R"([{}, {"model"}])");
  CHECK(read("{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}") == R"([{"data"}, {}])");
  CHECK(read("{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}") ==
        R"([{"data"}, {}], unreduced={"model"})");
  CHECK(read("{replicated}") == "[{}, {}]");
  CHECK(read("{unreduced}") == R"([{}, {}], unreduced={"data", "model"})");
}

TEST_CASE("tiles inside an axis become sub-axes") {
  CHECK(read("{devices=[2,4]<=[8]}", 2, Mesh({{MeshAxis("x"), 8}})) ==
        R"([{"x":(1)2}, {"x":(2)4}])");
  CHECK(read("{devices=[4,2]<=[8]}") == R"([{"data", "model":(1)2}, {"model":(2)2}])");
}

TEST_CASE("every sharding of a mesh survives its XLA text") {
  const Mesh cube({{MeshAxis("a"), 2}, {MeshAxis("b"), 3}, {MeshAxis("c"), 4}});
  const std::vector<Axes> choices = {{},          {cube.full(0)}, {cube.full(2), cube.full(0)},
                                     {{2, 2, 2}}, {cube.full(1)}, {{2, 1, 2}, cube.full(1)}};
  for (const Axes& first : choices) {
    for (const Axes& second : choices) {
      const bool overlap = std::any_of(first.begin(), first.end(), [&](const AxisRef& a) {
        return std::any_of(second.begin(), second.end(),
                           [&](const AxisRef& b) { return overlaps(a, b); });
      });
      if (overlap) continue;
      Sharding sharding;
      sharding.dims = {{first}, {second}};
      const std::string text = to_string(hlo_sharding(cube, sharding));
      CAPTURE(text);
      CHECK(read(text, 2, cube) == to_string(cube, sharding));
      CHECK(read(sdy_sharding(cube, sharding), 2, cube) == to_string(cube, sharding));
      CHECK(read(sdy_sharding(cube, sharding, ""), 2, cube) == to_string(cube, sharding));
    }
  }
}

TEST_CASE("Shardy's text is read with open dims and sub-axes") {
  CHECK(read(R"(<@mesh, [{"data"}, {}]>)") == R"([{"data"}, {}])");
  CHECK(read(R"(#sdy.sharding<@mesh, [{"model":(1)2, ?}, {?}], replicated={"data"}>)") ==
        R"([{"model":(1)2, ?}, {?}], replicated={"data"})");
  CHECK(read(R"( <mesh<["data"=2, "model"=4]>, [{}p1, {"model"}], unreduced={"data"}> )") ==
        R"([{}, {"model"}], unreduced={"data"})");
}

TEST_CASE("texts that are no sharding of the mesh say why") {
  CHECK(read("{devices=[2,2]<=[4]}") ==
        "--spec:1:1: error: the sharding is for 4 devices, the mesh data 2 x model 4 has 8 "
        "[mesh-size]");
  CHECK(read("{devices=[2,4]<=[8]}", 3) ==
        "--spec:1:1: error: the sharding has 2 dims, the array 3 [rank-mismatch]");
  CHECK(read("{devices=[2,4]<=[7]}") ==
        "--spec:1:1: error: '{devices=[2,4]<=[7]}' is not a tiled sharding: [2,4] are 8 tiles, [7] "
        "are 7 devices [spec-syntax]\n"
        "  hint: XLA writes {devices=[2,4]<=[8]}, {devices=[4,1,2]<=[2,4]T(1,0) "
        "last_tile_dim_replicate} or {replicated}");
  CHECK(read("{devices=[3,2]<=[2,3]T(1,0)}", 2, Mesh({{MeshAxis("a"), 3}, {MeshAxis("b"), 2}})) ==
        "--spec:1:1: error: no axes of the mesh a 3 x b 2 split an array as "
        "{devices=[3,2]<=[2,3]T(1,0)} [mesh-mismatch]\n"
        "  hint: use a mesh whose axes are the factors of the tiles");
  CHECK(read(R"(<@mesh, [{"date"}, {}]>)") ==
        "--spec:1:12: error: the mesh has no axis 'date' [unknown-mesh-axis]\n"
        "  hint: did you mean 'data'? the axes: data, model");
  CHECK(read(R"(<@mesh, [{"data"}, {"data"}]>)") ==
        "--spec:1:22: error: 'data' is used twice [duplicate-mesh-axis]\n"
        "  hint: an axis can split one dim of an array");
  CHECK(read(R"(<@mesh, [{"model":(3)2}, {}]>)") ==
        "--spec:1:12: error: axis 'model' of size 4 has no part (3)2 [bad-sub-axis]\n"
        "  hint: x:(a)b is the middle of x seen as a times b times the rest");
  CHECK(read(R"(<@mesh, [{"data"} {}]>)") ==
        "--spec:1:19: error: found '{', expected ']' [spec-syntax]\n"
        "  hint: Shardy writes <@mesh, [{\"data\"}, {}]>");
}
