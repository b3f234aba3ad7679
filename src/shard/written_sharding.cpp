#include "shard/written_sharding.h"

#include <algorithm>

#include "base/nearest.h"
#include "shard/axes.h"
#include "shard/sharding_text.h"

namespace shard {
namespace {

bool is_used(const Sharding& sharding, const AxisRef& axis) {
  const auto is_same = [&](const AxisRef& one) { return overlaps(one, axis); };
  return std::any_of(sharding.dims.begin(), sharding.dims.end(), [&](const DimSharding& dim) {
    return std::any_of(dim.axes.begin(), dim.axes.end(), is_same);
  });
}

AxisRef free_axis(const Mesh& mesh, const Sharding& sharding, const MeshAxis& name,
                  const Location& at) {
  const std::optional<int> found = mesh.find(name);
  if (!found) {
    throw Error("unknown-mesh-axis", at, "the mesh has no axis '" + name.text() + "'",
                did_you_mean(name.text(), axis_names(mesh), "the axes"));
  }
  const AxisRef axis = mesh.full(*found);
  if (!is_used(sharding, axis)) return axis;
  throw Error("duplicate-mesh-axis", at,
              "'" + name.text() + "' splits the added dim and another one of the text",
              "an axis can split one dim of an array");
}

void apply(const Mesh& mesh, const ShardingText::Edit& edit, const Location& at,
           Sharding& sharding) {
  const auto place = sharding.dims.begin() + static_cast<std::ptrdiff_t>(edit.dim);
  if (!edit.added) {
    sharding.dims.erase(place);
    return;
  }
  DimSharding dim;
  for (const MeshAxis& name : edit.added->axes) {
    dim.axes.push_back(free_axis(mesh, sharding, name, at));
  }
  sharding.dims.insert(place, std::move(dim));
}

/// Rank of the array that the text was written for.
int written_rank(const ShardingText& text, int rank) {
  for (const ShardingText::Edit& edit : text.edits) rank += edit.added ? -1 : 1;
  return rank;
}

}  // namespace

Sharding sharding_of(const Mesh& mesh, const ShardingText& text, int rank, const Location& at) {
  Sharding sharding = read_sharding_text(mesh, text.text, written_rank(text, rank), at);
  for (const ShardingText::Edit& edit : text.edits) apply(mesh, edit, at, sharding);
  return sharding;
}

bool has_parts(const Mesh& mesh, const Sharding& sharding) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(), [&](const DimSharding& dim) {
    return std::any_of(dim.axes.begin(), dim.axes.end(),
                       [&](const AxisRef& axis) { return !mesh.is_full(axis); });
  });
}

PartitionSpec written_spec(const Mesh& mesh, const Sharding& sharding) {
  PartitionSpec spec = effective_spec(mesh, sharding);
  for (const AxisRef& axis : sharding.unreduced) {
    spec.unreduced.insert(mesh.axes()[static_cast<std::size_t>(axis.axis)].name);
  }
  return spec;
}

}  // namespace shard
