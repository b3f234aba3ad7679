#include "shard/hlo_sharding.h"

#include <doctest/doctest.h>

#include "shard/axes.h"
#include "shard/pieces.h"
#include "shard/sdy_text.h"
#include "split.h"

using namespace shard;
using namespace shard::tests;

namespace {

const Mesh mesh_xyz({{MeshAxis("x"), 2, {}}, {MeshAxis("y"), 3, {}}, {MeshAxis("z"), 4, {}}});
const AxisRef x = mesh_xyz.full(0);
const AxisRef y = mesh_xyz.full(1);
const AxisRef z = mesh_xyz.full(2);

std::string hlo(std::vector<Axes> dims) {
  return to_string(hlo_sharding(mesh_xyz, split(std::move(dims))));
}

}  // namespace

TEST_CASE("device lists are transposed iotas in their shortest form") {
  CHECK(hlo({{z, y, x}}) == "{devices=[24]<=[2,3,4]T(2,1,0)}");
  CHECK(hlo({{y, z}, {x}}) == "{devices=[12,2]<=[2,12]T(1,0)}");
  CHECK(hlo({{x}, {}}) == "{devices=[2,1,12]<=[24] last_tile_dim_replicate}");
  CHECK(hlo({{}, {}}) == "{replicated}");
  CHECK(hlo({}) == "{replicated}");
}

TEST_CASE("sub-axes cut the iota where they begin and end") {
  CHECK(hlo({{{2, 1, 2}}, {{2, 2, 2}}}) ==
        "{devices=[2,2,6]<=[6,4]T(1,0) last_tile_dim_replicate}");
  CHECK(hlo({{{2, 2, 2}}}) == "{devices=[2,12]<=[12,2]T(1,0) last_tile_dim_replicate}");
}

TEST_CASE("unreduced axes are a group of their own") {
  Sharding sharding = split({{x}});
  sharding.unreduced = {z};
  CHECK(to_string(hlo_sharding(mesh_xyz, sharding)) ==
        "{devices=[2,4,3]<=[2,3,4]T(0,2,1) last_tile_dims={unreduced, replicated}}");
  sharding = split({{}});
  sharding.unreduced = {x, y, z};
  CHECK(to_string(hlo_sharding(mesh_xyz, sharding)) == "{unreduced}");
}

TEST_CASE("both written forms read back to the same sharding") {
  for (const Sharding& sharding : {split({{z, y, x}}), split({{y, z}, {x}}), split({{x}, {}}),
                                   split({{{2, 2, 2}}}), split({{}, {z}, {y}}), split({{}})}) {
    const HloSharding made = hlo_sharding(mesh_xyz, sharding);
    CHECK(read_hlo_sharding(to_string(made)) == made);
    CHECK(read_hlo_sharding(to_string_v1(made)) == made);
  }
}

TEST_CASE("a form that is not the shortest reads to the shortest") {
  CHECK(to_string(*read_hlo_sharding("{devices=[2,4]<=[2,1,4]T(0,1,2)}")) ==
        "{devices=[2,4]<=[8]}");
  CHECK(to_string(*read_hlo_sharding("{devices=[1,1]<=[1]}")) == "{devices=[1,1]<=[1]}");
}

TEST_CASE("texts that are no HLO shardings say why") {
  const std::vector<std::pair<const char*, const char*>> refused = {
      {"", "it does not begin with {"},
      {"{}", "'' is no kind of sharding"},
      {"{replicated", "found its end, expected }"},
      {"{devices=[]<=[8]}", "found ']<=[8]}', expected the number of tiles along each dim"},
      {"{devices=[0]<=[0]}", "[0] has no tile"},
      {"{devices=[99999999999,99999999999]<=[8]}",
       "[99999999999,99999999999] are more than 2^63 tiles"},
      {"{devices=[9999999999999999999]<=[8]}",
       "found '9]<=[8]}', expected ] behind numbers of up to 18 digits"},
      {"{devices=[2,4]}", "found '}', expected <=[ or a list of devices"},
      {"{devices=[2,4]<=[7]}", "[2,4] are 8 tiles, [7] are 7 devices"},
      {"{devices=[8]<=[]}", "found ']}', expected numbers of up to 18 digits and ]"},
      {"{devices=[1]<=[99999999999999999,99999999999999999]}",
       "[1] are 1 tiles, [99999999999999999,99999999999999999] are more than 2^63 devices"},
      {"{devices=[2,4]<=[2,4]T(0,0)}", "T(...) does not name each of 2 dims once"},
      {"{devices=[2,4]<=[2,4]T(1)}", "T(...) does not name each of 2 dims once"},
      {"{devices=[2,4]<=[2,4]T(1,0}", "found '}', expected dims and )"},
      {"{devices=[2]1,0}",
       "the order of its devices is no transposed grid, so no axes of a mesh make it"},
      {"{devices=[4]0,1,3,2}",
       "the order of its devices is no transposed grid, so no axes of a mesh make it"},
      {"{devices=[4]0,1,2,999999999999}", "its 4 devices are not 0 to 3, each once"},
      {"{devices=[3]0,1}", "[3] are 3 tiles for 2 devices"},
      {"{devices=[8]<=[8] last_tile_dims={other}}", "'other' is no kind of tile dim"},
      {"{devices=[8]<=[8] last_tile_dims={manual, manual}}",
       "it names more kinds of tile dims than it has tile dims"},
      {"{devices=[8]<=[8]", "found its end, expected }"},
      {"{devices=[8]<=[8]} ", "' ' stands behind its end"}};
  for (const auto& [text, why] : refused) {
    CAPTURE(text);
    std::string said;
    CHECK_FALSE(read_hlo_sharding(text, &said).has_value());
    CHECK(said == why);
  }
}

TEST_CASE("shardings of different meshes are equivalent when the tiles and devices are") {
  const Mesh flat({{MeshAxis("all"), 24, {}}});
  const Sharding whole = split({{flat.full(0)}});
  CHECK(is_equivalent(mesh_xyz, split({{x, y, z}}), flat, whole));
  CHECK_FALSE(is_equivalent(mesh_xyz, split({{z, y, x}}), flat, whole));
  std::vector<std::int64_t> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(23 - i);
  CHECK_FALSE(is_equivalent(flat, whole, Mesh(flat.axes(), ids), whole));
}

TEST_CASE("pieces are ranges and whole dims say so") {
  const Mesh m24({{MeshAxis("data"), 2, {}}, {MeshAxis("model"), 4, {}}});
  const Sharding sharding = split({{}, {m24.full(1)}});
  CHECK(piece_at(m24, sharding, {8, 16}, 5) ==
        std::vector<PieceRange>{{0, 8, true}, {4, 8, false}});
  CHECK(replica_id(m24, sharding, {8, 16}, 5) == 1);
  CHECK(replica_id(m24, sharding, {8, 0}, 5) == 5);
  CHECK_FALSE(is_fully_replicated(m24, sharding));
  CHECK(is_fully_replicated(m24, split({{}, {}})));
}

TEST_CASE("Shardy's texts name the mesh or write it out") {
  CHECK(sdy_mesh(mesh_xyz) == R"(<["x"=2, "y"=3, "z"=4]>)");
  CHECK(
      sdy_mesh_line(Mesh({{MeshAxis("a"), 2, {}}}), "@other") ==
      R"(sdy.mesh @other = <["a"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}})");
  CHECK(sdy_sharding(mesh_xyz, split({{z}, {}})) == R"(#sdy.sharding<@mesh, [{"z"}, {}]>)");
  CHECK(sdy_sharding(mesh_xyz, split({}), "") ==
        R"(#sdy.sharding<mesh<["x"=2, "y"=3, "z"=4]>, []>)");
}
