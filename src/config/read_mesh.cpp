#include "config/read_mesh.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/tensor_type.h"
#include "config/checked_map.h"
#include "config/scalars.h"
#include "config/sizes.h"
#include "text/number.h"

namespace shard {
namespace {

constexpr std::string_view to_fill = "-1";

struct OrderWord {
  std::string_view word;
  DeviceOrder order;
};
constexpr std::array<OrderWord, 4> order_words = {{{"auto", DeviceOrder::automatic},
                                                   {"split", DeviceOrder::split},
                                                   {"contiguous", DeviceOrder::contiguous},
                                                   {"ids", DeviceOrder::ids}}};

std::optional<std::int64_t> read_size(const TextEntry& entry, const std::string& what,
                                      Diagnostics& diagnostics) {
  if (!entry.value.is_scalar()) {
    report_type(entry.value, what, "a whole number of 1 or more", diagnostics);
    return std::nullopt;
  }
  if (entry.value.scalar == to_fill) return -1;
  return read_positive(entry.value.scalar, entry.value.at, what, diagnostics);
}

std::optional<std::int64_t> read_id(const TextNode& node, Diagnostics& diagnostics) {
  const IntegerReading id =
      node.is_scalar() ? read_integer(node.scalar) : IntegerReading{0, NumberFault::not_a_number};
  if (!id.fault && id.value >= 0) return id.value;
  const bool is_large = id.fault && *id.fault == NumberFault::too_large;
  diagnostics.error("bad-device-id", node.at,
                    "a device id is " + describe(node) + ", expected a whole number of 0 or more",
                    is_large ? "ids have at most 63 bits" : "");
  return std::nullopt;
}

}  // namespace

std::vector<MeshAxisConfig> read_mesh_axes(const TextNode& map, std::string_view what,
                                           Diagnostics& diagnostics) {
  std::vector<MeshAxisConfig> axes;
  Shape sizes;
  for (const TextEntry& entry : map.entries) {
    if (!check_name(entry, "a " + std::string(what), diagnostics)) continue;
    const auto size = read_size(entry, std::string(what) + " '" + entry.key + "'", diagnostics);
    if (!size) continue;
    axes.push_back({MeshAxis(entry.key), *size, entry.key_at});
    if (*size > 0) sizes.push_back(*size);
  }
  if (!checked_product(sizes)) {
    diagnostics.error("size-overflow", map.at, "the mesh has more than 2^63 - 1 devices");
  }
  return axes;
}

std::vector<AxisTypeConfig> read_axis_types(const TextNode& node,
                                            const std::vector<MeshAxisConfig>& mesh,
                                            Diagnostics& diagnostics) {
  const KeyRow& row = *rules_table().find("axis_types");
  std::vector<AxisTypeConfig> types;
  if (node.is_scalar()) {
    if (const auto word = read_word(node, row, diagnostics)) types.push_back({{}, *word, node.at});
    return types;
  }
  std::vector<std::string> names;
  for (const MeshAxisConfig& axis : mesh) names.push_back(axis.name.text());
  for (const TextEntry& entry : node.entries) {
    const auto word = read_word(entry.value, row, diagnostics);
    if (!names.empty() && std::find(names.begin(), names.end(), entry.key) == names.end()) {
      diagnostics.error("unknown-mesh-axis", entry.key_at,
                        "'" + entry.key + "' is not an axis of the mesh",
                        did_you_mean(entry.key, names, "the mesh has"));
    } else if (word) {
      types.push_back({MeshAxis(entry.key), *word, entry.key_at});
    }
  }
  return types;
}

void read_device_order(const TextNode& node, RulesConfig& rules, Diagnostics& diagnostics) {
  rules.device_order_at = node.at;
  if (node.is_sequence()) {
    rules.device_order = DeviceOrder::listed;
    for (const TextNode& item : node.items) {
      if (const auto id = read_id(item, diagnostics)) rules.device_ids.push_back(*id);
    }
    return;
  }
  const auto word = read_word(node, *rules_table().find("device_order"), diagnostics);
  for (const OrderWord& one : order_words) {
    if (word && one.word == *word) rules.device_order = one.order;
  }
}

}  // namespace shard
