// Topology names against MaxText's table of them, and device orders of named topologies against
// what the real TPU compiler was given.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "mesh/device_mesh.h"
#include "mesh/topology.h"
#include "mesh/torus.h"
#include "support/recordings.h"

using namespace shard;
using nlohmann::json;

namespace {

std::string corpus() {
  const char* folder = std::getenv("SHARD_PLAN_CORPUS");
  return folder != nullptr ? folder : std::string(SHARD_SOURCE_DIR) + "/../shared/corpus";
}

/// `2x4 8 [false, false, false]`: grid, devices per slice, wrap.
std::string facts(const std::string& name) {
  try {
    const Topology topology = topology_named(name, {});
    std::string text =
        torus_text(Shape(topology.grid.begin(), topology.grid.begin() + topology.torus_rank));
    text += " " + std::to_string(topology.devices_per_slice()) + " [";
    for (std::size_t k = 0; k < 3; ++k) {
      text += (k == 0 ? "" : ", ") + std::string(topology.wraps[k] ? "true" : "false");
    }
    return text + "]";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Score {
  std::string name;
  int matched = 0;
  int total = 0;

  void add(const std::string& what, const std::string& expected, const std::string& found) {
    ++total;
    if (expected == found) {
      ++matched;
    } else {
      std::cout << "miss " << what << "\n  expected " << expected << "\n  found    " << found
                << '\n';
    }
  }

  void close() const {
    std::cout << "conformance " << name << ": " << matched << '/' << total << '\n';
    CHECK(total > 0);
    CHECK(matched == total);
  }
};

/// Our names for the topologies that were compiled for: theirs count chips.
const std::map<std::string, std::string> compiled_names = {
    {"v5e-8", "v5e-8"},      {"v5e-16", "v5e-16"},     {"v5e-64", "v5e-64"},
    {"v5e-256", "v5e-256"},  {"v6e-8", "v6e-8"},       {"v6e-16", "v6e-16"},
    {"v6e-256", "v6e-256"},  {"v5p-8", "v5p-2x2x2"},   {"v5p-16", "v5p-2x2x4"},
    {"v5p-64", "v5p-4x4x4"}, {"v5p-256", "v5p-4x8x8"}, {"v4-8", "v4-2x2x2"}};

}  // namespace

TEST_CASE("topology names are those of MaxText") {
  const std::string path = corpus() + "/maxtext/topologies.yml";
  if (!std::filesystem::exists(path)) {
    std::cout << "skipped: corpus maxtext/topologies.yml, not there\n";
    return;
  }
  // One row a line: NAME: {platform: tpu, topology: "v5e:4x8", devices_per_slice: 32, wrap: [...]}
  const std::regex row(
      R"re(([\w-]+): \{platform: tpu, topology: "\w+:([\dx]+)", devices_per_slice: (\d+), wrap: (\[.*\])\})re");
  Score score{"corpus maxtext/topologies.yml"};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::smatch part;
    if (!std::regex_match(line, part, row)) continue;
    score.add(part[1], part[2].str() + " " + part[3].str() + " " + part[4].str(), facts(part[1]));
  }
  score.close();
}

TEST_CASE("named topologies give the device orders of the real compiler") {
  const std::optional<json> read = tests::read_goldens("tpu_aot/compiled.json");
  if (!read) return;
  const json& cases = read->at("cases");
  Score score{"tpu_aot/compiled.json device orders"};
  for (const auto& [name, one] : cases.items()) {
    if (!one.contains("device_order")) continue;
    const auto devices = devices_of_topology(compiled_names.at(one.at("topology")), {});
    const DeviceMesh mesh = create_device_mesh(one.at("mesh").get<Shape>(), devices, {false, true});
    const auto first = static_cast<std::ptrdiff_t>(one.at("device_order").size());
    const json found = std::vector<std::int64_t>(mesh.ids.begin(), mesh.ids.begin() + first);
    score.add(name, one.at("device_order").dump(), found.dump());
  }
  score.close();
}
