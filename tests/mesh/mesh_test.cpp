#include "mesh/mesh.h"

#include <doctest/doctest.h>

#include "base/check.h"

using namespace shard;

namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

Mesh mesh_with(std::vector<std::pair<std::string, std::int64_t>> axes) {
  std::vector<MeshAxisInfo> infos;
  for (auto& [name, size] : axes) infos.push_back({MeshAxis(name), size, {}});
  return Mesh(std::move(infos));
}

RulesConfig rules_with(std::vector<std::pair<std::string, std::int64_t>> axes,
                       const std::string& devices = "") {
  RulesConfig rules;
  int column = 8;
  for (auto& [name, size] : axes) {
    rules.mesh.push_back({MeshAxis(name), size, {"r.yaml", 1, column, 4}});
    column += 10;
  }
  rules.devices = devices;
  rules.devices_at = {"r.yaml", 2, 10, 5};
  return rules;
}

std::string refusal(const RulesConfig& rules) {
  try {
    make_mesh(rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("coordinates are row major") {
  const Mesh mesh = mesh_with({{"data", 2}, {"model", 4}});
  CHECK(mesh.device_count() == 8);
  CHECK(mesh.coordinate(6, mesh.full(0)) == 1);
  CHECK(mesh.coordinate(6, mesh.full(1)) == 2);
  CHECK(mesh.linear_coordinate(6, {mesh.full(1), mesh.full(0)}) == 5);
  CHECK(mesh.linear_coordinate(6, {}) == 0);
}

TEST_CASE("a sub-axis is the middle part of its axis") {
  const Mesh mesh = mesh_with({{"x", 8}});
  const AxisRef middle{0, 2, 2};
  CHECK(to_string(mesh, middle) == "x:(2)2");
  CHECK(to_string(mesh, mesh.full(0)) == "x");
  std::vector<std::int64_t> coordinates;
  for (std::int64_t at = 0; at < 8; ++at) coordinates.push_back(mesh.coordinate(at, middle));
  CHECK(coordinates == std::vector<std::int64_t>{0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("device ids may have an order of their own") {
  const Mesh mesh({{MeshAxis("x"), 4, {}}}, {0, 1, 3, 2});
  CHECK(mesh.device_id(2) == 3);
  CHECK_FALSE(mesh == mesh_with({{"x", 4}}));
  CHECK_THROWS_AS(Mesh({{MeshAxis("x"), 4, {}}}, {0, 1}), InternalError);
}

TEST_CASE("replica groups have equal coordinates outside the grouped axes") {
  const Mesh mesh = mesh_with({{"data", 2}, {"model", 4}});
  CHECK(replica_groups(mesh, {mesh.full(1)}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(replica_groups(mesh, {mesh.full(0)}) == Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(replica_groups(mesh, {mesh.full(1), mesh.full(0)}) == Groups{{0, 4, 1, 5, 2, 6, 3, 7}});
  CHECK(replica_groups(mesh, {}) == Groups{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
}

TEST_CASE("replica groups over a sub-axis leave the rest of its axis apart") {
  const Mesh mesh = mesh_with({{"x", 8}});
  CHECK(replica_groups(mesh, {{0, 2, 2}}) == Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(replica_groups(mesh, {{0, 4, 2}, {0, 1, 2}}) == Groups{{0, 4, 1, 5}, {2, 6, 3, 7}});
}

TEST_CASE("every device is in exactly one replica group and its place is its coordinate") {
  const Mesh mesh = mesh_with({{"a", 4}, {"b", 1}, {"c", 6}});
  for (const std::vector<AxisRef>& refs : std::vector<std::vector<AxisRef>>{
           {mesh.full(2), {0, 2, 2}}, {{2, 2, 3}}, {mesh.full(1), {2, 1, 2}, mesh.full(0)}}) {
    std::vector<int> seen(24, 0);
    for (const auto& group : replica_groups(mesh, refs)) {
      REQUIRE(static_cast<std::int64_t>(group.size()) == product(refs));
      for (std::size_t i = 0; i < group.size(); ++i) {
        ++seen[static_cast<std::size_t>(group[i])];
        CHECK(mesh.linear_coordinate(group[i], refs) == static_cast<std::int64_t>(i));
      }
    }
    CHECK(seen == std::vector<int>(24, 1));
  }
}

TEST_CASE("a mesh prints its axes and sizes") {
  CHECK(to_string(mesh_with({{"data", 2}, {"model", 4}})) == "data 2 x model 4");
}

TEST_CASE("a mesh is made from a rules file") {
  const Mesh mesh = make_mesh(rules_with({{"data", 2}, {"model", 4}}, "cpu-8"));
  CHECK(mesh == mesh_with({{"data", 2}, {"model", 4}}));
  CHECK(mesh.axes()[1].at == Location{"r.yaml", 1, 18, 4});
  CHECK(mesh.find(MeshAxis("model")) == 1);
  CHECK_FALSE(mesh.find(MeshAxis("fsdp")).has_value());
}

TEST_CASE("an axis name that occurs twice is refused") {
  CHECK(refusal(rules_with({{"data", 2}, {"data", 4}})) ==
        "r.yaml:1:18: error: mesh axis 'data' is there twice [duplicate-mesh-axis]\n"
        "  hint: give each axis of the mesh a name of its own");
}

TEST_CASE("an axis without a name is refused") {
  CHECK(refusal(rules_with({{"", 2}})) ==
        "r.yaml:1:8: error: a mesh axis has no name [bad-mesh-axis]\n"
        "  hint: write a word, e.g. data: 2");
}

TEST_CASE("every size below one is refused in one run") {
  CHECK(refusal(rules_with({{"data", 0}, {"model", -4}})) ==
        "r.yaml:1:8: error: mesh axis 'data' has size 0, expected 1 or more [bad-mesh-size]\n"
        "r.yaml:1:18: error: mesh axis 'model' has size -4, expected 1 or more [bad-mesh-size]");
}

TEST_CASE("a mesh beyond the limit of devices is refused before it is built") {
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(refusal(rules_with({{"data", large}, {"model", large}})) ==
        "r.yaml:1:8: error: the mesh has more than 2,147,483,648 devices: the product passes it at "
        "axis 'data' [mesh-too-large]");
  CHECK(refusal(rules_with({{"data", 1 << 16}, {"model", 1 << 15}})) == "accepted");
  CHECK(refusal(rules_with({{"data", 1 << 16}, {"model", 1 << 16}})) ==
        "r.yaml:1:18: error: the mesh has more than 2,147,483,648 devices: the product passes it "
        "at axis 'model' [mesh-too-large]");
}

TEST_CASE("a device count that is not the product is refused") {
  CHECK(refusal(rules_with({{"data", 2}, {"model", 4}}, "cpu-16")) ==
        "r.yaml:2:10: error: the mesh data 2 x model 4 has 8 devices, but 'cpu-16' are 16 "
        "[mesh-size]\n"
        "  hint: write devices: cpu-8, or change a size of the mesh");
}
