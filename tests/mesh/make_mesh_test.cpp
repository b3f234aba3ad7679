#include <doctest/doctest.h>

#include "mesh/device_mesh.h"
#include "mesh/mesh.h"

using namespace shard;

namespace {

std::vector<MeshAxisConfig> axes_with(const std::vector<std::pair<std::string, std::int64_t>>& axes,
                                      int line) {
  std::vector<MeshAxisConfig> made;
  int column = 8;
  for (const auto& [name, size] : axes) {
    made.push_back({MeshAxis(name), size, {"r.yaml", line, column, 4}});
    column += 10;
  }
  return made;
}

RulesConfig rules_on(const std::string& devices,
                     const std::vector<std::pair<std::string, std::int64_t>>& axes,
                     const std::vector<std::pair<std::string, std::int64_t>>& dcn = {}) {
  RulesConfig rules;
  rules.mesh = axes_with(axes, 1);
  rules.dcn = axes_with(dcn, 3);
  rules.devices = devices;
  rules.devices_at = {"r.yaml", 2, 10, 5};
  return rules;
}

/// The sizes, and the ids where they are not 0, 1, 2 ...; or what was refused.
std::string made(const RulesConfig& rules) {
  try {
    const Mesh mesh = make_mesh(rules);
    std::string text = to_string(mesh);
    if (mesh.is_in_id_order()) return text;
    text += ":";
    for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
      text += " " + std::to_string(mesh.device_id(at));
    }
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the size that is left open is what the devices leave") {
  CHECK(made(rules_on("cpu-8", {{"data", 1}, {"fsdp", -1}, {"tensor", 2}})) ==
        "data 1 x fsdp 4 x tensor 2");
  CHECK(made(rules_on("2xcpu-4", {{"data", -1}, {"fsdp", 2}, {"tensor", 2}}, {{"data", -1}})) ==
        "data 2 x fsdp 2 x tensor 2: 0 1 2 3 4 5 6 7");
  CHECK(made(rules_on("cpu-8", {{"data", 1}, {"fsdp", -1}, {"tensor", 3}})) ==
        "r.yaml:1:18: error: -1 in the mesh sizes (1, -1, 3) cannot be filled in: 8 devices are "
        "not a multiple of the others, (1, 1, 3) = 3 [mesh-size]\n"
        "  hint: the other sizes have to divide 8");
  CHECK(made(rules_on("cpu-8", {{"data", -1}, {"fsdp", -1}})) ==
        "r.yaml:1:18: error: the mesh sizes (-1, -1) hold more than one -1: axis 'data' and axis "
        "'fsdp' [bad-mesh-size]\n"
        "  hint: at most one size of a group can be left to fill in");
  CHECK(made(rules_on("2xcpu-4", {{"data", 2}, {"fsdp", 4}}, {{"data", -1}, {"fsdp", -1}})) ==
        "r.yaml:3:18: error: the dcn sizes (-1, -1) hold more than one -1: axis 'data' and axis "
        "'fsdp' [bad-mesh-size]\n"
        "  hint: at most one size of a group can be left to fill in");
}

TEST_CASE("a size that is left open needs devices") {
  CHECK(made(rules_on("", {{"data", 2}, {"fsdp", -1}})) ==
        "r.yaml:1:18: error: the size of mesh axis 'fsdp' is to be filled in, and the number of "
        "devices is not given [needs-device-count]\n"
        "  hint: give the hardware (--devices v5e-16) or a number instead of -1");
  CHECK(made(rules_on("", {{"data", 2}}, {{"data", -1}})) ==
        "r.yaml:3:8: error: the dcn size of mesh axis 'data' is to be filled in, and the number of "
        "slices is not given [needs-device-count]\n"
        "  hint: give the hardware (--devices v5e-16) or a number instead of -1");
}

TEST_CASE("sizes that do not multiply to the devices are refused") {
  CHECK(made(rules_on("cpu-8", {{"data", 2}, {"fsdp", 8}})) ==
        "r.yaml:2:10: error: the mesh data 2 x fsdp 8 has 16 devices, but 'cpu-8' are 8 "
        "[mesh-size]\n"
        "  hint: write devices: cpu-16, or change a size of the mesh");
  CHECK(made(rules_on("v5e-16", {{"data", 2}, {"fsdp", 4}})) ==
        "r.yaml:2:10: error: the mesh data 2 x fsdp 4 has 8 devices, but 'v5e-16' are 16 "
        "[mesh-size]\n"
        "  hint: change a size of the mesh, or write -1 for one to have it filled in");
  CHECK(made(rules_on("2xv5e-4", {{"data", 4}, {"model", 2}}, {{"data", 4}})) ==
        "r.yaml:3:8: error: the number of slices (2) must equal the product of the dcn sizes "
        "(4, 1) = 4 [mesh-size]\n"
        "  hint: change a size, or write -1 for one of them to have it filled in");
  CHECK(made(rules_on("2xv5e-4", {{"data", 1}, {"model", 8}}, {{"data", 2}})) ==
        "r.yaml:3:8: error: mesh axis 'data' has size 1, and 2 of it across slices leaves no whole "
        "number inside a slice [bad-mesh-size]\n"
        "  hint: the dcn size has to divide 1");
  CHECK(made(rules_on("", {{"data", 4}}, {{"dat", 2}})) ==
        "r.yaml:3:8: error: dcn axis 'dat' is not an axis of the mesh [unknown-mesh-axis]\n"
        "  hint: did you mean 'data'? the mesh has: data");
}

TEST_CASE("devices that do not exist are refused with the nearest") {
  CHECK(made(rules_on("gpu", {{"x", 8}})) ==
        "r.yaml:2:10: error: devices 'gpu' do not exist: 'gpu' is no chip we know "
        "[unknown-devices]\n"
        "  hint: did you mean 'cpu'? expected a TPU slice (v5e-256, v5p-2x2x4, 4xv5e-16), GPUs "
        "(8xh100, 4x8xh100) or cpu-8");
  CHECK(made(rules_on("v5e-20", {{"x", 20}})) ==
        "r.yaml:2:10: error: devices 'v5e-20' do not exist: no slice of v5e has 20 chips "
        "[unknown-devices]\n"
        "  hint: nearest: v5e-16 or v5e-32");
  for (const std::string word : {"cpu-", "cpu-08", "cpu-0", "cpu-8x"}) {
    CAPTURE(word);
    CHECK(made(rules_on(word, {{"x", 8}})) ==
          "r.yaml:2:10: error: devices '" + word +
              "' do not exist: CPU devices are written cpu-COUNT [unknown-devices]\n"
              "  hint: write cpu-8, or 2xcpu-4 for 2 processes");
  }
}

TEST_CASE("devices stand where JAX puts them") {
  CHECK(made(rules_on("v5e-8", {{"data", 2}, {"model", 4}})) ==
        "data 2 x model 4: 0 1 2 3 7 6 5 4");
  CHECK(made(rules_on("v4-8", {{"x", 4}})) == "x 4: 0 2 1 3");
  CHECK(made(rules_on("2xv5e-4", {{"data", 4}, {"model", 2}}, {{"data", 2}})) ==
        "data 4 x model 2: 0 1 3 2 4 5 7 6");
  CHECK(made(rules_on("2x4xh100", {{"data", 2}, {"model", 4}})) == "data 2 x model 4");
  CHECK(made(rules_on("2x4xh100", {{"data", 2}, {"model", 4}}, {{"model", 2}})) ==
        "data 2 x model 4: 0 1 4 5 2 3 6 7");
  RulesConfig rules = rules_on("v5e-8", {{"data", 2}, {"model", 4}});
  rules.device_order = DeviceOrder::ids;
  CHECK(made(rules) == "data 2 x model 4");
  rules.device_order = DeviceOrder::listed;
  rules.device_ids = {7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(made(rules) == "data 2 x model 4: 7 6 5 4 3 2 1 0");
}

TEST_CASE("a mesh that whole axes of the torus cannot carry is refused unless they may be split") {
  RulesConfig rules = rules_on("v5e-256", {{"data", 64}, {"model", 4}});
  CHECK(made(rules) ==
        "r.yaml:1:8: error: Failed to find assignment of mesh axis 'model' of (64, 4) (size 4) to "
        "whole axes of the torus 16x16x1: the axes still free carry 1, 16, 256 "
        "[topology-unassignable]\n"
        "  hint: choose one of these sizes, or let mesh axes share a torus axis (device_order: "
        "split)");
  rules.device_order = DeviceOrder::split;
  const Mesh split = make_mesh(rules);
  DeviceMeshOptions options;
  options.allow_split_physical_axes = true;
  const DeviceMesh expected =
      create_device_mesh({64, 4}, devices_of_topology("v5e-256", {}), options);
  for (std::int64_t at = 0; at < 256; ++at) {
    REQUIRE(split.device_id(at) == expected.ids[static_cast<std::size_t>(at)]);
  }
  CHECK(make_mesh(rules_on("v5e-256", {{"data", 16}, {"model", 16}})).device_count() == 256);
  CHECK(make_mesh(rules_on("v5e-256", {{"data", 256}, {"model", 1}})).device_count() == 256);
  // The last axis gets the 4x4 plane, whose devices are 0 to 15.
  const Mesh box = make_mesh(rules_on("v5p-4x4x16", {{"data", 16}, {"model", 16}}));
  CHECK(box.device_id(1) == 4);
  CHECK(box.device_id(15) == 15);
  CHECK(box.device_id(16) == 16);
}

TEST_CASE("slices of TPUs need an axis that crosses them") {
  CHECK(made(rules_on("4xv5e-4", {{"data", 4}, {"model", 4}})) ==
        "r.yaml:2:10: error: '4xv5e-4' are 4 slices, which a slower network joins, and no axis is "
        "said to cross it [multi-slice]\n"
        "  hint: say how much of an axis does, e.g. dcn: {data: 4}");
}

TEST_CASE("a list of devices has each of them once") {
  RulesConfig rules = rules_on("", {{"data", 4}});
  rules.device_order = DeviceOrder::listed;
  rules.device_order_at = {"r.yaml", 3, 15, 1};
  rules.device_ids = {0, 1, 2};
  CHECK(made(rules) ==
        "r.yaml:3:15: error: device_order lists 3 devices, the mesh has 4 [bad-device-order]\n"
        "  hint: list each of the devices 0 to 3 once");
  rules.device_ids = {0, 1, 2, 9'223'372'036'854'775'807};
  CHECK(made(rules) ==
        "r.yaml:3:15: error: there is no device 9223372036854775807 [bad-device-order]\n"
        "  hint: list each of the devices 0 to 3 once");
  rules.device_ids = {0, 1, 2, 1};
  CHECK(made(rules) ==
        "r.yaml:3:15: error: device 1 is listed twice [bad-device-order]\n"
        "  hint: list each of the devices 0 to 3 once");
}

TEST_CASE("a mesh knows its hardware and how its axes cross it") {
  const Mesh mesh = make_mesh(rules_on("4x8xh100", {{"data", 8}, {"model", 4}}, {{"data", 4}}));
  REQUIRE(mesh.hardware() != nullptr);
  CHECK(mesh.hardware()->topology.chip == "h100");
  CHECK(mesh.hardware()->dcn == Shape{4, 1});
  CHECK(mesh.hardware()->ici == Shape{2, 4});
  CHECK(make_mesh(rules_on("", {{"data", 8}})).hardware() == nullptr);
}

TEST_CASE("axes have the type that the rules give them") {
  RulesConfig rules = rules_on("", {{"data", 2}, {"model", 4}});
  CHECK_FALSE(make_mesh(rules).has(AxisType::explicit_types));
  rules.axis_types = {{{}, "explicit", {}}};
  CHECK(make_mesh(rules).type(1) == AxisType::explicit_types);
  rules.axis_types = {{MeshAxis("data"), "manual", {}}};
  CHECK(make_mesh(rules).type(0) == AxisType::manual);
  CHECK(make_mesh(rules).type(1) == AxisType::automatic);
}

TEST_CASE("the order of a large mesh is worked out when it is asked for") {
  // 2^21 devices are more than can be listed: only asking for one of them says so.
  const Mesh mesh = make_mesh(
      rules_on("512xv5p-8192", {{"data", 512}, {"fsdp", 256}, {"model", 16}}, {{"data", 512}}));
  CHECK(mesh.device_count() == 2'097'152);
  CHECK_THROWS_AS(mesh.device_id(1), Error);
}
