// Meshes and chips as text, and drawings as SVG.

#include "report/mesh_drawing.h"

#include <doctest/doctest.h>

#include "mesh/device_place.h"
#include "report/fitted_text.h"
#include "report/index_map.h"
#include "report/piece_dim.h"
#include "report/svg.h"

using namespace shard;

namespace {

Mesh mesh_on(const std::string& devices, const std::vector<std::pair<std::string, int>>& axes) {
  RulesConfig rules;
  for (const auto& [name, size] : axes) rules.mesh.push_back({MeshAxis(name), size, {}});
  rules.devices = devices;
  return make_mesh(rules);
}

std::string mesh_picture(const Mesh& mesh) {
  return fitted_text(
      [&](const DrawingLimits& limits) { return mesh_drawing(mesh, limits, box_strokes); }, {}, {});
}

std::string chips_picture(const std::string& devices) {
  const Topology topology = topology_named(devices, {});
  return fitted_text(
      [&](const DrawingLimits& limits) { return chips_drawing(topology, limits, box_strokes); }, {},
      {});
}

}  // namespace

TEST_CASE("a mesh without hardware shows its devices and hides axes of size 1") {
  CHECK(mesh_picture(mesh_on("", {{"data", 2}, {"fsdp", 1}, {"model", 4}})) ==
        R"(data 2   model 4
         model 0   model 1   model 2   model 3
       ┌─────────┬─────────┬─────────┬─────────┐
data 0 │    0    │    1    │    2    │    3    │
       ├─────────┼─────────┼─────────┼─────────┤
data 1 │    4    │    5    │    6    │    7    │
       └─────────┴─────────┴─────────┴─────────┘
)");
}

TEST_CASE("a mesh on a torus says along which links each axis runs") {
  CHECK(mesh_picture(mesh_on("v4-32", {{"data", 4}, {"model", 4}})) ==
        R"(data 4 along z: one link a step   model 4 along x, y: up to 2 links a step
          model 0      model 1      model 2      model 3
       ┌────────────┬────────────┬────────────┬────────────┐
data 0 │ 0 (0,0,0)  │ 2 (0,1,0)  │ 1 (1,0,0)  │ 3 (1,1,0)  │
       ├────────────┼────────────┼────────────┼────────────┤
data 1 │ 4 (0,0,1)  │ 6 (0,1,1)  │ 5 (1,0,1)  │ 7 (1,1,1)  │
       ├────────────┼────────────┼────────────┼────────────┤
data 2 │ 8 (0,0,2)  │ 10 (0,1,2) │ 9 (1,0,2)  │ 11 (1,1,2) │
       ├────────────┼────────────┼────────────┼────────────┤
data 3 │ 12 (0,0,3) │ 14 (0,1,3) │ 13 (1,0,3) │ 15 (1,1,3) │
       └────────────┴────────────┴────────────┴────────────┘
cells: device, (x,y,z) of its chip
)");
}

TEST_CASE("an axis of a whole torus dim closes to a ring") {
  const Mesh mesh = mesh_on("v5e-256", {{"data", 16}, {"model", 16}});
  CHECK(axis_claim(mesh, 0) == "data 16 along y: one link a step, closed to a ring");
  CHECK(axis_claim(mesh, 1) == "model 16 along x: one link a step, closed to a ring");
}

TEST_CASE("axes of GPUs are inside a node or across nodes") {
  const Mesh mesh = mesh_on("4x8xh100", {{"data", 4}, {"model", 8}});
  CHECK(axis_claim(mesh, 0) == "data 4 across nodes");
  CHECK(axis_claim(mesh, 1) == "model 8 inside a node");
  const Mesh wide = mesh_on("4x8xh100", {{"data", 8}, {"model", 4}});
  CHECK(axis_claim(wide, 0) == "data 8 inside a node and across nodes");
}

TEST_CASE("chips stand where they are with boxes around hosts") {
  CHECK(chips_picture("v5e-16") == R"(v5e-16: 4 x 4 chips, no rings
      x 0  x 1   x 2  x 3
    ┌──────────┬──────────┐
y 0 │  0    1  │  2    3  │
y 1 │  4    5  │  6    7  │
    ├──────────┼──────────┤
y 2 │  8    9  │ 10   11  │
y 3 │ 12   13  │ 14   15  │
    └──────────┴──────────┘
boxes: hosts of 2 x 2 chips
)");
  CHECK(chips_picture("v2-8") == R"(v2-8: 2 x 2 chips of 2 devices, no rings
      x 0  x 1
    ┌──────────┐
y 0 │ 0,1  2,3 │
y 1 │ 4,5  6,7 │
    └──────────┘
boxes: hosts of 2 x 2 chips
)");
}

TEST_CASE("layers of a torus and slices stand side by side") {
  CHECK(chips_picture("v4-32") == R"(v4-32: 2 x 2 x 4 chips, no rings
    z 0            z 1            z 2            z 3
      x 0  x 1       x 0  x 1       x 0  x 1       x 0  x 1
    ┌──────────┐   ┌──────────┐   ┌──────────┐   ┌──────────┐
y 0 │  0    1  │   │  4    5  │   │  8    9  │   │ 12   13  │
y 1 │  2    3  │   │  6    7  │   │ 10   11  │   │ 14   15  │
    └──────────┘   └──────────┘   └──────────┘   └──────────┘
boxes: hosts of 2 x 2 x 1 chips
)");
  CHECK(chips_picture("2xv5e-4") == R"(2xv5e-4: 2 slices of 2 x 2 chips, no rings
    slice 0        slice 1
      x 0  x 1       x 0  x 1
    ┌──────────┐   ┌──────────┐
y 0 │  0    1  │   │  4    5  │
y 1 │  2    3  │   │  6    7  │
    └──────────┘   └──────────┘
boxes: hosts of 2 x 2 chips
)");
}

TEST_CASE("nodes of GPUs are rows") {
  CHECK(chips_picture("2x4xh100") == R"(2x4xh100: 2 nodes of 4 h100s
         gpu 0  gpu 1  gpu 2  gpu 3
       ┌────────────────────────────┐
node 0 │   0      1      2      3   │
       ├────────────────────────────┤
node 1 │   4      5      6      7   │
       └────────────────────────────┘
boxes: hosts of 8 devices
)");
}

TEST_CASE("a nested cut goes by one axis after the other in the index map") {
  const Mesh mesh = mesh_on("", {{"a", 2}, {"b", 2}});
  Sharding sharding;
  sharding.dims = {{{mesh.full(0), mesh.full(1)}}, {}};
  CHECK(index_text(mesh, sharding, {5, 3}, 0, UnevenCut::nested) == R"(device  copy  indices
     0     0  [0:2, :]
     1     0  [2:3, :]
     2     0  [3:4, :]
     3     0  [4:5, :]
)");
}

TEST_CASE("split dims count the sizes of a nested cut") {
  const Mesh mesh = mesh_on("", {{"a", 4}, {"b", 3}});
  Sharding sharding;
  sharding.dims = {{{mesh.full(0), mesh.full(1)}}};
  const auto split = [&](std::int64_t size, UnevenCut cut) {
    return piece_dims(sharding, {size}, cut).front().split_text();
  };
  CHECK(split(24, UnevenCut::nested) == "12 x 2");
  CHECK(split(10, UnevenCut::nested) == "12 x 1 (10 whole, 2 empty)");
  CHECK(split(19, UnevenCut::nested) == "12 x 2 (8 whole, 3 of 1, 1 empty)");
  CHECK(split(19, UnevenCut::flat) == "12 x 2 (9 whole, 1 of 1, 2 empty)");
  CHECK(split(0, UnevenCut::flat) == "12 x 0");
}

TEST_CASE("the index map counts copies") {
  const Mesh mesh = mesh_on("", {{"a", 2}, {"b", 2}});
  Sharding sharding;
  sharding.dims = {{{mesh.full(1)}}, {}};
  CHECK(index_text(mesh, sharding, {3, 5}, 0) == R"(device  copy  indices
     0     0  [0:2, :]
     1     0  [2:3, :]
     2     1  [0:2, :]
     3     1  [2:3, :]
)");
  CHECK(index_text(mesh, sharding, {3, 5}, 1) == R"(device  copy  indices
     0     0  [0:2, :]
   ...   ...  ...
     3     1  [2:3, :]
)");
}

TEST_CASE("SVG keeps every text as text and escapes it") {
  Drawing drawing;
  drawing.rows = {{.labels = {"a 0"}, .range = "0:2"}};
  drawing.columns = {{.labels = {"<b> & c"}}, {.labels = {"d"}, .is_gap = true}};
  drawing.panels = {{{}, {{{"0-3", 1}, {"\u2026"}}}}};
  drawing.notes = {"two copies"};
  const std::string svg = svg_document({{"x \"y\"", drawing}});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find(">&lt;b&gt; &amp; c</text>") != std::string::npos);
  CHECK(svg.find("class=\"title\" text-anchor=\"start\">x \"y\"</text>") != std::string::npos);
  CHECK(svg.find("text-anchor=\"middle\">0-3</text>") != std::string::npos);
  CHECK(svg.find("text-anchor=\"end\">a 0  0:2</text>") != std::string::npos);
  CHECK(svg.find("class=\"cell t1\"") != std::string::npos);
  CHECK(svg.find("class=\"plain\"") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
}

TEST_CASE("a device's place follows from its id as the list of devices has it") {
  for (const char* name :
       {"v5e-16", "v4-32", "2xv5e-8", "4x8xh100", "v2-8", "2xcpu-4", "v5p-128"}) {
    CAPTURE(name);
    const Topology topology = topology_named(name, {});
    for (const Device& device : devices_of(topology, {})) {
      const DevicePlace place = place_of(topology, device.id);
      CHECK(place.host == device.process);
      CHECK(place.core == device.core);
      if (device.coords) CHECK(place.chip == *device.coords);
      if (device.slice) CHECK(place.slice == *device.slice);
    }
  }
}
