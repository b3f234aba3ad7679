#include "support/goldens.h"

#include <set>

#include "shard/named_sharding.h"

namespace shard::tests {

Mesh mesh_of(const json& recorded) {
  std::vector<MeshAxisInfo> axes;
  const json types = recorded.value("types", json::array());
  for (const json& axis : recorded.at("axes")) {
    axes.push_back({MeshAxis(axis.at(0).get<std::string>()), axis.at(1).get<std::int64_t>()});
    const std::size_t at = axes.size() - 1;
    if (at >= types.size()) continue;
    axes.back().type = axis_type_named(types[at].get<std::string>()).value();
  }
  std::vector<std::int64_t> ids;
  for (const char* const key : {"devices", "device_ids"}) {
    if (recorded.contains(key)) ids = recorded.at(key).get<std::vector<std::int64_t>>();
  }
  return Mesh(std::move(axes), std::move(ids));
}

std::optional<PartitionEntry> entry_of(const json& recorded) {
  PartitionEntry entry;
  if (recorded.is_null()) return entry;
  if (recorded.is_string()) {
    const std::string name = recorded.get<std::string>();
    entry.is_unconstrained = name == "UNCONSTRAINED";
    if (!entry.is_unconstrained && !name.empty()) entry.axes.emplace_back(name);
    return entry;
  }
  const json& members = recorded.is_object() ? recorded.value("list", json()) : recorded;
  if (!members.is_array()) return std::nullopt;
  for (const json& member : members) {
    if (!member.is_string() || member == "UNCONSTRAINED") return std::nullopt;
    entry.axes.emplace_back(member.get<std::string>());
  }
  return entry;
}

namespace {

/// Known axes, each once, and none beyond the rank.
bool fits(const Mesh& mesh, const PartitionSpec& spec, std::size_t rank) {
  std::set<MeshAxis> used;
  for (std::size_t dim = 0; dim < spec.entries.size(); ++dim) {
    for (const MeshAxis& axis : spec.entries[dim].axes) {
      if (dim >= rank || !mesh.find(axis) || !used.insert(axis).second) return false;
    }
  }
  return axis_type_mistakes(mesh, spec, "x").empty();
}

}  // namespace

std::optional<Sharding> sharding_of(const Mesh& mesh, const json& spec, std::size_t rank) {
  PartitionSpec read;
  for (const json& one : spec.is_object() ? spec.at("P") : spec) {
    const std::optional<PartitionEntry> entry = entry_of(one);
    if (!entry) return std::nullopt;
    read.entries.push_back(*entry);
  }
  if (spec.is_object()) {
    for (const json& name : spec.value("unreduced", json::array())) {
      read.unreduced.insert(MeshAxis(name.get<std::string>()));
    }
    for (const json& name : spec.value("reduced", json::array())) {
      read.reduced.insert(MeshAxis(name.get<std::string>()));
    }
  }
  if (!fits(mesh, read, rank)) return std::nullopt;
  return named_sharding(mesh, read, static_cast<int>(rank));
}

}  // namespace shard::tests
