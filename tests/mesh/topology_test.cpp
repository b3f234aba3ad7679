#include "mesh/topology.h"

#include <doctest/doctest.h>

#include <iostream>
#include <set>

#include "mesh/topology_table.h"
#include "refusal.h"

using namespace shard;
using namespace shard::test;

namespace {

const Location topology_place{"r.yaml", 3, 1, 1};

struct Named {
  std::string name;
  std::string kind;
  Grid grid;
  std::int64_t slices;
  std::int64_t devices;
};

std::string unknown(const std::string& name) {
  return refusal([&] { topology_named(name, topology_place); });
}

std::string unknown_text(const std::string& name, const std::string& why, const std::string& hint) {
  return "r.yaml:3:1: error: devices '" + name + "' do not exist: " + why +
         " [unknown-devices]\n  hint: " + hint;
}

const std::string forms =
    "expected a TPU slice (v5e-256, v5p-2x2x4, 4xv5e-16), GPUs (8xh100, 4x8xh100) or cpu-8";

}  // namespace

TEST_CASE("names stand for the hardware they stand for elsewhere") {
  const std::vector<Named> all = {
      {"v2-8", "TPU v2", {2, 2, 1}, 1, 8},
      {"v3-32", "TPU v3", {4, 4, 1}, 1, 32},
      {"v3-2048", "TPU v3", {32, 32, 1}, 1, 2048},
      {"v4-8", "TPU v4", {2, 2, 1}, 1, 4},
      {"v4-128", "TPU v4", {4, 4, 4}, 1, 64},
      {"v4-8192", "TPU v4", {16, 16, 16}, 1, 4096},
      {"v4-4x4x16", "TPU v4", {4, 4, 16}, 1, 256},
      {"v5e-1", "TPU v5 lite", {1, 1, 1}, 1, 1},
      {"v5e-256", "TPU v5 lite", {16, 16, 1}, 1, 256},
      {"v5litepod-8", "TPU v5 lite", {2, 4, 1}, 1, 8},
      {"v5e-4x2", "TPU v5 lite", {4, 2, 1}, 1, 8},
      {"v5p-16", "TPU v5", {2, 2, 2}, 1, 8},
      {"v5p-2x2x4", "TPU v5", {2, 2, 4}, 1, 16},
      {"v5p-17920", "TPU v5", {16, 20, 28}, 1, 8960},
      {"V6E-16", "TPU v6 lite", {4, 4, 1}, 1, 16},
      {"tpu7x-16", "TPU7x", {2, 2, 2}, 1, 16},
      {"v7x-128", "TPU7x", {4, 4, 4}, 1, 128},
      {"4xv5e-16", "TPU v5 lite", {4, 4, 1}, 4, 64},
      {"8192xv5e-16", "TPU v5 lite", {4, 4, 1}, 8192, 131072},
      {"8xh100", "NVIDIA H100", {8, 1, 1}, 1, 8},
      {"4x8xh100", "NVIDIA H100", {8, 1, 1}, 4, 32},
      {"2x16xa100-40g", "NVIDIA A100", {16, 1, 1}, 2, 32},
      {"2x72xgb200", "NVIDIA GB200", {72, 1, 1}, 2, 144},
      {"9x4xgb200", "NVIDIA GB200", {36, 1, 1}, 1, 36},
      {"36x4xgb200", "NVIDIA GB200", {72, 1, 1}, 2, 144},
      {"cpu-8", "cpu", {8, 1, 1}, 1, 8},
      {"2xcpu-4", "cpu", {4, 1, 1}, 2, 8},
      {"cpu-2147483648", "cpu", {2147483648, 1, 1}, 1, 2147483648},
  };
  for (const Named& one : all) {
    CAPTURE(one.name);
    const Topology topology = topology_named(one.name, topology_place);
    CHECK(topology.name == one.name);
    CHECK(topology.kind == one.kind);
    CHECK(topology.grid == one.grid);
    CHECK(topology.slices == one.slices);
    CHECK(topology.device_count() == one.devices);
  }
}

TEST_CASE("a torus axis closes into a ring on a whole pod edge or in whole cubes") {
  using Wraps = std::array<bool, 3>;
  CHECK(topology_named("v5e-64", topology_place).wraps == Wraps{false, false, false});
  CHECK(topology_named("v5e-128", topology_place).wraps == Wraps{false, true, false});
  CHECK(topology_named("v5p-64", topology_place).wraps == Wraps{false, false, false});
  CHECK(topology_named("v5p-128", topology_place).wraps == Wraps{true, true, true});
  CHECK(topology_named("v3-1024", topology_place).wraps == Wraps{false, true, false});
  CHECK(topology_named("8xh100", topology_place).wraps == Wraps{false, false, false});
}

TEST_CASE("TPU devices are listed by process while ids count x first and cores before that") {
  const std::vector<Device> devices = devices_of_topology("v3-32", topology_place);
  REQUIRE(devices.size() == 32);
  CHECK(devices[0] == Device{0, "tpu", "TPU v3", Grid{0, 0, 0}, 0, 0, 0});
  CHECK(devices[1] == Device{1, "tpu", "TPU v3", Grid{0, 0, 0}, 1, 0, 0});
  CHECK(devices[4] == Device{8, "tpu", "TPU v3", Grid{0, 1, 0}, 0, 0, 0});
  CHECK(devices[8] == Device{4, "tpu", "TPU v3", Grid{2, 0, 0}, 0, 1, 0});
  CHECK(devices[31] == Device{31, "tpu", "TPU v3", Grid{3, 3, 0}, 1, 3, 0});
}

TEST_CASE("slices number their processes one after the other") {
  const std::vector<Device> devices = devices_of_topology("2xv5p-32", topology_place);
  CHECK(devices[16] == Device{16, "tpu", "TPU v5", Grid{0, 0, 0}, 0, 4, 1});
  CHECK(devices[31] == Device{31, "tpu", "TPU v5", Grid{1, 1, 3}, 0, 7, 1});
  CHECK(slice_count(devices) == 2);
}

TEST_CASE("a v5e slice of eight chips is one host and sixteen chips are four") {
  CHECK(devices_of_topology("v5e-8", topology_place).back().process == 0);
  CHECK(devices_of_topology("v5e-16", topology_place).back().process == 3);
}

TEST_CASE("every GPU node is a slice and CPU processes are none") {
  const std::vector<Device> gpus = devices_of_topology("4x8xh100", topology_place);
  CHECK(gpus[8] == Device{8, "gpu", "NVIDIA H100", {}, 0, 1, 1});
  CHECK(slice_count(gpus) == 4);
  const std::vector<Device> rack = devices_of_topology("18x4xgb200", topology_place);
  CHECK(rack.back() == Device{71, "gpu", "NVIDIA GB200", {}, 0, 17, 0});
  const std::vector<Device> cpus = devices_of_topology("2xcpu-4", topology_place);
  CHECK(cpus.back() == Device{7, "cpu", "cpu", {}, 0, 1, {}});
  CHECK(slice_count(cpus) == 1);
}

TEST_CASE("every size that is offered can also be written as its box of chips") {
  for (const TpuGeneration& generation : tpu_generations()) {
    const std::string stem = std::string(generation.name) + "-";
    for (const Grid& grid : sized_grids(generation)) {
      const std::int64_t chips = grid[0] * grid[1] * grid[2];
      const std::string box =
          std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
      CAPTURE(stem + box);
      CHECK(topology_named(stem + box, topology_place).grid == grid);
      CHECK(
          topology_named(stem + std::to_string(chips * generation.counted_per_chip), topology_place)
              .grid == grid);
    }
  }
}

TEST_CASE("a size that is not offered is refused with the offered ones around it") {
  CHECK(unknown("v5e-12") ==
        unknown_text("v5e-12", "no slice of v5e has 12 chips", "nearest: v5e-8 or v5e-16"));
  CHECK(unknown("v5e-512") ==
        unknown_text("v5e-512", "no slice of v5e has 512 chips", "nearest: v5e-256"));
  CHECK(unknown("v4-6") == unknown_text("v4-6", "no slice of v4 has 6 cores", "nearest: v4-8"));
  CHECK(unknown("v5p-12416") == unknown_text("v5p-12416", "no slice of v5p has 12416 cores",
                                             "nearest: v5p-12288 or v5p-13824"));
}

TEST_CASE("a box that is not offered is refused with the offered ones around it") {
  CHECK(unknown("v5p-2x2x3") == unknown_text("v5p-2x2x3", "no slice of v5p is a box of 2x2x3 chips",
                                             "nearest: v5p-2x2x2 or v5p-2x2x4"));
  CHECK(unknown("v5e-16x16x2") == unknown_text("v5e-16x16x2",
                                               "no slice of v5e is a box of 16x16x2 chips",
                                               "nearest: v5e-16x16"));
  CHECK(unknown("v5p-9999999999x9999999999x4") ==
        unknown_text("v5p-9999999999x9999999999x4",
                     "no slice of v5p is a box of 9999999999x9999999999x4 chips",
                     "nearest: v5p-16x20x28"));
}

TEST_CASE("a generation without a size is refused with examples") {
  CHECK(unknown("v5e") == unknown_text("v5e", "a size has to follow the generation 'v5e'",
                                       "write v5e-16 or a box of chips like v5e-4x4"));
  CHECK(unknown("v5p-99999999999") ==
        unknown_text("v5p-99999999999", "'99999999999' is neither a size nor a box of chips",
                     "write v5p-16 or a box of chips like v5p-2x2x4"));
  CHECK(unknown("2x3xv5e-4") == unknown_text("2x3xv5e-4",
                                             "one count of slices can stand before a TPU slice",
                                             "write 2xv5e-4"));
}

TEST_CASE("an unknown chip is refused with the nearest one") {
  CHECK(unknown("v5w-8") ==
        unknown_text("v5w-8", "'v5w' is no chip we know", "did you mean 'v5e'? " + forms));
  CHECK(unknown("8xh10O") ==
        unknown_text("8xh10O", "'h10o' is no chip we know", "did you mean 'h100'? " + forms));
  CHECK(unknown("") == unknown_text("", "'' is no chip we know", forms));
  CHECK(unknown("0xv5e-4") == unknown_text("0xv5e-4", "'0xv5e' is no chip we know", forms));
}

TEST_CASE("GPUs in another form or too many in a node are refused") {
  const std::string why = "GPUs are written GPUS x CHIP or NODES x GPUS x CHIP";
  const std::string hint = "write 8xh100 for one node or 4x8xh100 for four";
  CHECK(unknown("h100") == unknown_text("h100", why, hint));
  CHECK(unknown("h100-8") == unknown_text("h100-8", why, hint));
  CHECK(unknown("1x2x8xh100") == unknown_text("1x2x8xh100", why, hint));
  CHECK(unknown("2x9xh100") ==
        unknown_text("2x9xh100", "a node of h100 has at most 8 GPUs, not 9", "write NODESx8xh100"));
  CHECK(unknown("20x4xgb200") == unknown_text("20x4xgb200",
                                              "20 hosts do not fill NVLink domains of 18",
                                              "write whole domains, e.g. 1x72xgb200"));
}

TEST_CASE("CPU devices in another form are refused") {
  for (const std::string name : {"cpu", "cpu-0", "cpu-08", "cpu-8x2", "2x3xcpu-4"}) {
    CAPTURE(name);
    CHECK(unknown(name) == unknown_text(name, "CPU devices are written cpu-COUNT",
                                        "write cpu-8, or 2xcpu-4 for 2 processes"));
  }
}

TEST_CASE("more devices than can be planned or listed are refused") {
  CHECK(unknown("cpu-2147483649") ==
        "r.yaml:3:1: error: devices 'cpu-2147483649' are more than 2,147,483,648 "
        "[mesh-too-large]");
  CHECK(unknown("9999999999xv5e-256") ==
        "r.yaml:3:1: error: devices '9999999999xv5e-256' are more than 2,147,483,648 "
        "[mesh-too-large]");
  CHECK(refusal([] { devices_of_topology("cpu-3000000", topology_place); }) ==
        "r.yaml:3:1: error: devices 'cpu-3000000' are 3,000,000, more than the 1,048,576 whose "
        "places can be listed [mesh-too-large]");
}
