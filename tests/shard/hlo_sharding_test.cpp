#include "shard/hlo_sharding.h"

#include <doctest/doctest.h>

#include "shard/axes.h"
#include "shard/pieces.h"
#include "shard/sdy_text.h"

using namespace shard;

namespace {

const Mesh mesh({{MeshAxis("x"), 2, {}}, {MeshAxis("y"), 3, {}}, {MeshAxis("z"), 4, {}}});
const AxisRef x = mesh.full(0);
const AxisRef y = mesh.full(1);
const AxisRef z = mesh.full(2);

Sharding split(std::vector<Axes> dims) {
  Sharding sharding;
  for (Axes& axes : dims) sharding.dims.push_back({std::move(axes), false});
  return sharding;
}

std::string hlo(std::vector<Axes> dims) {
  return to_string(hlo_sharding(mesh, split(std::move(dims))));
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
  CHECK(to_string(hlo_sharding(mesh, sharding)) ==
        "{devices=[2,4,3]<=[2,3,4]T(0,2,1) last_tile_dims={unreduced, replicated}}");
  sharding = split({{}});
  sharding.unreduced = {x, y, z};
  CHECK(to_string(hlo_sharding(mesh, sharding)) == "{unreduced}");
}

TEST_CASE("both written forms read back to the same sharding") {
  for (const Sharding& sharding : {split({{z, y, x}}), split({{y, z}, {x}}), split({{x}, {}}),
                                   split({{{2, 2, 2}}}), split({{}, {z}, {y}}), split({{}})}) {
    const HloSharding made = hlo_sharding(mesh, sharding);
    CHECK(read_hlo_sharding(to_string(made)) == made);
    CHECK(read_hlo_sharding(to_string_v1(made)) == made);
  }
}

TEST_CASE("a form that is not the shortest reads to the shortest") {
  CHECK(to_string(*read_hlo_sharding("{devices=[2,4]<=[2,1,4]T(0,1,2)}")) ==
        "{devices=[2,4]<=[8]}");
  CHECK(to_string(*read_hlo_sharding("{devices=[1,1]<=[1]}")) == "{devices=[1,1]<=[1]}");
}

TEST_CASE("texts that are no HLO shardings are refused") {
  for (const char* const text :
       {"", "{}", "{replicated", "{devices=[2,4]}", "{devices=[2,4]<=[7]}", "{devices=[]<=[8]}",
        "{devices=[2,4]<=[2,4]T(0,0)}", "{devices=[2,4]<=[2,4]T(1)}", "{devices=[2]1,0}",
        "{devices=[4]0,1,3,2}", "{devices=[8]<=[8] last_tile_dims={other}}", "{devices=[8]<=[8]} ",
        "{devices=[0]<=[0]}", "{devices=[8]<=[]}",
        "{devices=[1]<=[99999999999999999,99999999999999999]}", "{devices=[8]<=[8]",
        "{devices=[3]0,1}"}) {
    CAPTURE(text);
    CHECK_FALSE(read_hlo_sharding(text).has_value());
  }
}

TEST_CASE("shardings of different meshes are equivalent when the tiles and devices are") {
  const Mesh flat({{MeshAxis("all"), 24, {}}});
  const Sharding whole = split({{flat.full(0)}});
  CHECK(is_equivalent(mesh, split({{x, y, z}}), flat, whole));
  CHECK_FALSE(is_equivalent(mesh, split({{z, y, x}}), flat, whole));
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
  CHECK(sdy_mesh(mesh) == R"(<["x"=2, "y"=3, "z"=4]>)");
  CHECK(
      sdy_mesh_line(Mesh({{MeshAxis("a"), 2, {}}}), "@other") ==
      R"(sdy.mesh @other = <["a"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}})");
  CHECK(sdy_sharding(mesh, split({{z}, {}})) == R"(#sdy.sharding<@mesh, [{"z"}, {}]>)");
  CHECK(sdy_sharding(mesh, split({}), "") == R"(#sdy.sharding<mesh<["x"=2, "y"=3, "z"=4]>, []>)");
}
