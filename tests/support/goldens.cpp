#include "support/goldens.h"

#include <set>

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

std::optional<Sharding> sharding_of(const Mesh& mesh, const json& spec, std::size_t rank) {
  if (spec.is_object()) {
    // Reduced axes concern derivatives only; the value is whole along them.
    std::optional<Sharding> sharding = sharding_of(mesh, spec.at("P"), rank);
    for (const json& name : spec.value("unreduced", json::array())) {
      const std::optional<int> axis = mesh.find(MeshAxis(name.get<std::string>()));
      if (!axis || !sharding) return std::nullopt;
      sharding->unreduced.push_back(mesh.full(*axis));
    }
    return sharding;
  }
  Sharding sharding = replicated_sharding(static_cast<int>(rank));
  std::set<int> used;
  for (std::size_t dim = 0; dim < spec.size(); ++dim) {
    const std::optional<PartitionEntry> entry = entry_of(spec[dim]);
    if (!entry || (dim >= rank && !entry->axes.empty())) return std::nullopt;
    if (dim < rank) sharding.dims[dim].is_open = entry->is_unconstrained;
    for (const MeshAxis& name : entry->axes) {
      const std::optional<int> axis = mesh.find(name);
      if (!axis || !used.insert(*axis).second) return std::nullopt;
      sharding.dims[dim].axes.push_back(mesh.full(*axis));
    }
  }
  return sharding;
}

}  // namespace shard::tests
