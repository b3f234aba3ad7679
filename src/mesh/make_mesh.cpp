#include <charconv>
#include <set>

#include "base/nearest.h"
#include "base/units.h"
#include "mesh/mesh.h"

namespace shard {
namespace {

constexpr std::int64_t most_devices = std::int64_t{1} << 31;

void check_names(const std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (const MeshAxisConfig& axis : axes) {
    if (axis.name.empty()) {
      diagnostics.error("bad-mesh-axis", axis.at, "a mesh axis has no name",
                        "write a word, e.g. data: 2");
    } else if (!seen.insert(axis.name.text()).second) {
      diagnostics.error("duplicate-mesh-axis", axis.at,
                        "mesh axis '" + axis.name.text() + "' is there twice",
                        "give each axis of the mesh a name of its own");
    }
  }
}

void check_sizes(const std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  std::int64_t product = 1;
  bool is_small = true;
  for (const MeshAxisConfig& axis : axes) {
    if (axis.size < 1) {
      diagnostics.error("bad-mesh-size", axis.at,
                        "mesh axis '" + axis.name.text() + "' has size " +
                            std::to_string(axis.size) + ", expected 1 or more");
      continue;
    }
    if (!is_small) continue;
    is_small = !__builtin_mul_overflow(product, axis.size, &product) && product <= most_devices;
    if (!is_small) {
      diagnostics.error("mesh-too-large", axis.at,
                        "the mesh has more than " + with_commas(most_devices) +
                            " devices: the product passes it at axis '" + axis.name.text() + "'");
    }
  }
}

/// The count of `cpu-8`, or nothing when the text has another form.
std::optional<std::int64_t> cpu_count(const std::string& text) {
  const std::string prefix = "cpu-";
  if (text.rfind(prefix, 0) != 0) return std::nullopt;
  const char* const first = text.data() + prefix.size();
  const char* const last = text.data() + text.size();
  std::int64_t count = 0;
  const auto [end, failure] = std::from_chars(first, last, count);
  if (failure != std::errc() || end != last || *first == '0' || count < 1) return std::nullopt;
  return count;
}

void check_devices(const RulesConfig& rules, const Mesh& mesh, Diagnostics& diagnostics) {
  if (rules.devices.empty()) return;
  const std::optional<std::int64_t> count = cpu_count(rules.devices);
  const std::string needed = "cpu-" + std::to_string(mesh.device_count());
  if (!count) {
    diagnostics.error("unknown-devices", rules.devices_at,
                      "devices '" + rules.devices + "' are not known, expected cpu-COUNT",
                      "this mesh needs " + needed);
  } else if (*count != mesh.device_count()) {
    diagnostics.error("mesh-size", rules.devices_at,
                      "the mesh " + to_string(mesh) + " has " + with_commas(mesh.device_count()) +
                          " devices, but '" + rules.devices + "' are " + with_commas(*count),
                      "write devices: " + needed + ", or change a size of the mesh");
  }
}

}  // namespace

Mesh make_mesh(const RulesConfig& rules) {
  Diagnostics diagnostics;
  check_names(rules.mesh, diagnostics);
  check_sizes(rules.mesh, diagnostics);
  diagnostics.throw_if_errors();
  std::vector<MeshAxisInfo> axes;
  axes.reserve(rules.mesh.size());
  for (const MeshAxisConfig& axis : rules.mesh) axes.push_back({axis.name, axis.size, axis.at});
  Mesh mesh(std::move(axes));
  check_devices(rules, mesh, diagnostics);
  diagnostics.throw_if_errors();
  return mesh;
}

}  // namespace shard
