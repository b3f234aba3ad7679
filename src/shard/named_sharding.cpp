#include "shard/named_sharding.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"

namespace shard {
namespace {

std::string types_text(const Mesh& mesh) {
  std::string text;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    text += (text.empty() ? "" : ", ") + axis.name.text() + " " + to_string(axis.type);
  }
  return text;
}

bool has_unconstrained(const PartitionSpec& spec) {
  return std::any_of(spec.entries.begin(), spec.entries.end(),
                     [](const PartitionEntry& entry) { return entry.is_unconstrained; });
}

/// `title` is `Unreduced` or `Reduced`.
void check_set(const Mesh& mesh, const PartitionSpec& spec, const std::set<MeshAxis>& axes,
               const std::string& title, const std::string& what,
               std::vector<SpecMistake>& mistakes) {
  for (const MeshAxis& name : axes) {
    if (mesh.find(name)) continue;
    mistakes.push_back({"unknown-mesh-axis",
                        title + " axis '" + name.text() + "' of " + to_string(spec) + " for " +
                            what + " is not found in mesh " + to_string(mesh),
                        did_you_mean(name.text(), axis_names(mesh), "the mesh has"), name.text()});
  }
  for (const MeshAxis& name : axes) {
    const std::optional<int> axis = mesh.find(name);
    if (!axis || mesh.type(*axis) == AxisType::explicit_types) continue;
    mistakes.push_back(
        {"unreduced-axis-type",
         title + " axes can only refer to mesh axes that is of type `Explicit`, and '" +
             name.text() + "' of " + to_string(spec) + " for " + what + " is " +
             to_string(mesh.type(*axis)),
         "leave it out: on axes of type Auto the compiler completes sums by itself", name.text()});
  }
}

}  // namespace

std::vector<SpecMistake> axis_type_mistakes(const Mesh& mesh, const PartitionSpec& spec,
                                            std::string_view what) {
  std::vector<SpecMistake> mistakes;
  const std::string of(what);
  if (has_unconstrained(spec) && !mesh.has(AxisType::automatic)) {
    mistakes.push_back(
        {"unconstrained-without-auto",
         to_string(spec) + " of " + of +
             " cannot contain UNCONSTRAINED when no mesh axis is of type Auto: " + types_text(mesh),
         "write None for a dim that is not split", to_string(spec)});
  }
  check_set(mesh, spec, spec.unreduced, "Unreduced", of, mistakes);
  check_set(mesh, spec, spec.reduced, "Reduced", of, mistakes);
  for (const MeshAxisInfo& axis : mesh.axes()) {
    if (axis.type != AxisType::manual || axis.size == 1) continue;
    mistakes.push_back({"manual-axis",
                        "mesh axis '" + axis.name.text() + "' is of type Manual, so " + of +
                            " has a shape on each device only inside a shard_map body",
                        "give the axis the type auto or explicit", axis.name.text()});
  }
  return mistakes;
}

Sharding named_sharding(const Mesh& mesh, const PartitionSpec& spec, int rank) {
  Sharding sharding = replicated_sharding(rank);
  std::set<int> used;
  const std::size_t dims = std::min(spec.entries.size(), sharding.dims.size());
  for (std::size_t dim = 0; dim < dims; ++dim) {
    sharding.dims[dim].is_open = spec.entries[dim].is_unconstrained;
    for (const MeshAxis& name : spec.entries[dim].axes) {
      const std::optional<int> axis = mesh.find(name);
      if (axis && used.insert(*axis).second) sharding.dims[dim].axes.push_back(mesh.full(*axis));
    }
  }
  for (const MeshAxis& name : spec.unreduced) {
    const std::optional<int> axis = mesh.find(name);
    if (axis && used.insert(*axis).second) sharding.unreduced.push_back(mesh.full(*axis));
  }
  std::sort(sharding.unreduced.begin(), sharding.unreduced.end());
  return sharding;
}

Sharding opened_for_auto(const Mesh& mesh, const Sharding& sharding,
                         const std::set<MeshAxis>& reduced) {
  if (!mesh.has(AxisType::automatic)) return sharding;
  Sharding opened = sharding;
  std::set<int> taken;
  for (DimSharding& dim : opened.dims) {
    dim.is_open = true;
    for (const AxisRef& axis : dim.axes) taken.insert(axis.axis);
  }
  for (const AxisRef& axis : opened.unreduced) taken.insert(axis.axis);
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) {
    const int axis = static_cast<int>(i);
    const bool is_held = mesh.type(axis) == AxisType::explicit_types && !taken.contains(axis) &&
                         !reduced.contains(mesh.axes()[i].name);
    if (is_held) opened.replicated.push_back(mesh.full(axis));
  }
  return opened;
}

}  // namespace shard
