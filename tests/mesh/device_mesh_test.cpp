#include "mesh/device_mesh.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "described_devices.h"
#include "mesh/mesh_sizes.h"
#include "mesh/topology.h"
#include "mesh/torus.h"
#include "refusal.h"

using namespace shard;
using namespace shard::test;

namespace {

const MeshOrigin origin{{"r.yaml", 3, 1, 1}, {"data", "model"}};

std::vector<Device> devices(const std::string& name) { return devices_of_topology(name, {}); }

bool is_permutation(const DeviceMesh& mesh, const std::vector<Device>& of) {
  std::vector<std::int64_t> ids = mesh.ids;
  std::vector<std::int64_t> expected;
  for (const Device& device : of) expected.push_back(device.id);
  std::sort(ids.begin(), ids.end());
  std::sort(expected.begin(), expected.end());
  return ids == expected && size_product(mesh.shape) == static_cast<std::int64_t>(ids.size());
}

}  // namespace

TEST_CASE("a flat mesh of four v4 chips reads the torus with x as the major axis") {
  CHECK(create_device_mesh({4}, devices("v4-8")) == DeviceMesh{{4}, {0, 2, 1, 3}});
}

TEST_CASE("the last mesh axis of 16 gets the 4x4 plane of a 4x4x16 torus") {
  const TorusPlacement placement = place_on_torus({4, 4, 16}, {16, 16}, false, {});
  CHECK(placement.assignment == std::vector<Shape>{{1, 4}, {1, 4}, {16, 1}});
}

TEST_CASE("a 64x4 mesh needs split axes on a 16x16 torus") {
  const auto chips = devices("v5e-256");
  CHECK(refusal([&] {
          create_device_mesh({64, 4}, chips, {}, origin);
        }) ==
        "r.yaml:3:1: error: Failed to find assignment of mesh axis 'model' of (64, 4) (size 4) to "
        "whole axes of the torus 16x16x1: the axes still free carry 1, 16, 256 "
        "[topology-unassignable]\n"
        "  hint: choose one of these sizes, or let mesh axes share a torus axis (device_order: "
        "split)");
  CHECK(create_device_mesh({16, 16}, chips).ids.size() == 256);
  CHECK(create_device_mesh({256, 1}, chips).ids.size() == 256);
  const DeviceMesh split = create_device_mesh({64, 4}, chips, {false, true});
  CHECK(std::vector<std::int64_t>(split.ids.begin(), split.ids.begin() + 8) ==
        std::vector<std::int64_t>{0, 1, 2, 3, 16, 17, 18, 19});
}

TEST_CASE("every size that divides a torus can be placed with split axes") {
  const auto chips = devices("v5p-4x8x12");
  const auto count = static_cast<std::int64_t>(chips.size());
  for (std::int64_t size = 1; size <= count; ++size) {
    if (count % size != 0) continue;
    CAPTURE(size);
    CHECK(is_permutation(create_device_mesh({count / size, size}, chips, {false, true}), chips));
  }
}

TEST_CASE("the order of the device list does not change a mesh on a torus") {
  const auto chips = devices("v4-4x4x8");
  std::vector<Device> turned = chips;
  std::reverse(turned.begin(), turned.end());
  CHECK(create_device_mesh({8, 16}, turned) == create_device_mesh({8, 16}, chips));
}

TEST_CASE("GPUs stand in the order of their ids and other devices as they are listed") {
  std::vector<Device> gpus = devices("8xh100");
  std::reverse(gpus.begin(), gpus.end());
  CHECK(create_device_mesh({2, 4}, gpus) == DeviceMesh{{2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}});
  std::vector<Device> cpus = cpu_devices(4);
  std::reverse(cpus.begin(), cpus.end());
  CHECK(create_device_mesh({4}, cpus) == DeviceMesh{{4}, {3, 2, 1, 0}});
}

TEST_CASE("make_device_mesh takes the first devices and splits axes on v5e only") {
  CHECK(make_device_mesh({2, 2}, cpu_devices(8)) == DeviceMesh{{2, 2}, {0, 1, 2, 3}});
  CHECK(make_device_mesh({64, 4}, devices("v5e-256")).ids.size() == 256);
  CHECK_THROWS_AS(make_device_mesh({64, 4}, devices("v6e-256")), Error);
}

TEST_CASE("a hybrid mesh has the slow network as the outer part of every axis") {
  CHECK(create_hybrid_device_mesh({2, 2}, {1, 2}, devices("2xv4-8")) ==
        DeviceMesh{{2, 4}, {0, 1, 4, 5, 2, 3, 6, 7}});
  CHECK(create_hybrid_device_mesh({4}, {1, 2}, devices("2xv4-8")) ==
        DeviceMesh{{1, 8}, {0, 2, 1, 3, 4, 6, 5, 7}});
  CHECK(create_hybrid_device_mesh({1, 8}, {4, 1}, devices("4x8xh100")).shape == Shape{4, 8});
}

TEST_CASE("thousands of devices are arranged exactly once each") {
  const auto chips = devices("tpu7x-18432");
  CHECK(is_permutation(create_device_mesh({2, 9216}, chips, {false, true}), chips));
  const auto slices = devices("64xv5e-256");
  CHECK(is_permutation(create_hybrid_device_mesh({1, 16, 16}, {64, 1, 1}, slices), slices));
}

TEST_CASE("a mesh of another size than its devices is refused with both numbers") {
  CHECK(refusal([] {
          create_device_mesh({2, 4}, devices("v4-128"), {}, origin);
        }) ==
        "r.yaml:3:1: error: the number of devices (64) must equal the product of the mesh sizes "
        "(2, 4) = 8 [mesh-size]\n  hint: the sizes have to multiply to 64");
  CHECK(refusal([] { make_device_mesh({128}, devices("v4-128"), origin); }) ==
        "r.yaml:3:1: error: the number of devices (64) must be >= the product of the mesh sizes "
        "(128,) [mesh-size]\n"
        "  hint: make a size smaller, or name a topology with more devices");
  CHECK(refusal([] {
          make_device_mesh({2, -1}, cpu_devices(8), origin);
        }) ==
        "r.yaml:3:1: error: the number of devices (8) must equal the product of the mesh sizes "
        "(2, -1) = -2 [mesh-size]\n  hint: the sizes have to multiply to 8");
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(refusal([&] {
          make_device_mesh({huge, huge}, cpu_devices(8), origin);
        }) ==
        "r.yaml:3:1: error: the number of devices (8) must be >= the product of the mesh sizes "
        "(1099511627776, 1099511627776) = more than 2^63 [mesh-size]\n"
        "  hint: make a size smaller, or name a topology with more devices");
}

TEST_CASE("sizes below 1 are refused") {
  CHECK(refusal([] {
          make_device_mesh({2, 0}, cpu_devices(8), origin);
        }) ==
        "r.yaml:3:1: error: the size of mesh axis 'model' is 0, expected 1 or more "
        "[bad-mesh-size]");
  CHECK(refusal([] {
          create_device_mesh({-2, -4}, cpu_devices(8), {}, {});
        }) ==
        "error: the mesh sizes (-2, -4) hold 2 negative numbers: a mesh can only specify one "
        "unknown dimension, written -1 [bad-mesh-size]\n  hint: a size is 1 or more");
  CHECK_THROWS_AS(create_device_mesh({0}, {}), Error);
}

TEST_CASE("contiguous submeshes are refused with the sizes that work") {
  CHECK(refusal([] {
          create_device_mesh({2, 32}, devices("v4-128"), {true, false}, origin);
        }) ==
        "r.yaml:3:1: error: cannot create contiguous submeshes for mesh sizes (2, 32) on the "
        "topology 4x4x4 [no-contiguous-submeshes]\n  hint: sizes that work here: (16, 4)");
  CHECK(refusal([] {
          create_device_mesh({8}, devices("v4-16"), {true, false}, origin);
        }) ==
        "r.yaml:3:1: error: cannot create contiguous submeshes for mesh sizes (8,) on the topology "
        "2x2x2 [no-contiguous-submeshes]\n"
        "  hint: no sizes are known for this topology; leave the option out");
}

TEST_CASE("devices that fill no box are refused") {
  std::vector<Device> chips = devices("v4-8");
  chips[0].coords = Grid{1, 0, 0};
  CHECK(refusal([&] { create_device_mesh({4}, chips, {}, origin); }) ==
        "r.yaml:3:1: error: the coordinates of the devices are not a contiguous cuboid: two "
        "devices share a place of the box 2x2x1 and another place is empty [topology-not-a-box]");
  chips[0].coords = Grid{-1, 0, 0};
  CHECK(refusal([&] { create_device_mesh({4}, chips, {}, origin); }) ==
        "r.yaml:3:1: error: 4 devices do not fill the box of x, y, z and cores around them: "
        "(3, 2, 1, 1) = 6 [topology-not-a-box]");
  chips[0].coords.reset();
  CHECK(refusal([&] { create_device_mesh({4}, chips, {}, origin); }) ==
        "r.yaml:3:1: error: device 0 of kind 'TPU v4' has no chip coordinates, so its place on the "
        "torus is not known [no-coordinates]");
}

TEST_CASE("a ring without coordinates and a lifted v3 slice are refused") {
  std::vector<Device> ring = devices("v5e-4");
  ring[0].coords.reset();
  CHECK(refusal([&] { create_device_mesh({4}, ring, {}, origin); }) ==
        "r.yaml:3:1: error: device 0 of kind 'TPU v5 lite' has no chip coordinates, so its place "
        "in the ring is not known [no-coordinates]");
  std::vector<Device> mixed = devices("v3-8");
  for (Device& device : mixed) (*device.coords)[2] = 1;
  mixed.back().kind = "TPU v4";
  CHECK(refusal([&] { create_device_mesh({8}, mixed, {}, origin); }) ==
        "r.yaml:3:1: error: TPU v3 slices are flat, but a chip has a z of its own "
        "[topology-not-a-box]");
}

TEST_CASE("a second core is refused where the cores of a chip are one device") {
  std::vector<Device> cores = devices("v3-8");
  for (Device& device : cores) device.kind = "TPU v4";
  CHECK(refusal([&] { create_device_mesh({8}, cores, {}, origin); }) ==
        "r.yaml:3:1: error: a mesh of 'TPU v4' requires one device per chip, but device 1 is core "
        "1 of its chip [cores-not-merged]\n"
        "  hint: list one device per chip: the cores of these chips work as one device");
}

TEST_CASE("several slices are refused in one flat mesh") {
  CHECK(refusal([] { make_device_mesh({16}, devices("2x8xh100"), origin); }) ==
        "r.yaml:3:1: error: one flat mesh does not support multi-slice topologies, and these "
        "devices are of 2 slices [multi-slice]\n"
        "  hint: build a hybrid mesh: sizes within a slice and sizes across slices");
  CHECK(refusal([] { make_device_mesh({8}, devices("2xv4-8"), origin); }) ==
        "r.yaml:3:1: error: 8 devices do not fill the box of x, y, z and cores around them: "
        "(2, 2, 1, 1) = 4 [topology-not-a-box]\n"
        "  hint: the devices are of 2 slices, whose coordinates repeat: build a hybrid mesh");
}

TEST_CASE("a hybrid mesh is refused without slices or with another number of them") {
  CHECK(refusal([] { create_hybrid_device_mesh({4}, {2}, cpu_devices(8), {}, origin); }) ==
        "r.yaml:3:1: error: device 0 of kind 'cpu' does not have attribute slice_index, so the "
        "devices form no slices [no-slice-index]\n"
        "  hint: let processes stand for slices (process_is_granule)");
  CHECK(refusal([] { create_hybrid_device_mesh({4}, {3}, devices("2xv4-8"), {}, origin); }) ==
        "r.yaml:3:1: error: Number of slices (2) must equal the product of the sizes across slices "
        "(3,) [mesh-size]\n  hint: the sizes across slices have to multiply to 2");
  CHECK_THROWS_AS(create_hybrid_device_mesh({}, {0}, {}, {}, origin), Error);
}
