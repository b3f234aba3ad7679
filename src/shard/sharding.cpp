#include "shard/sharding.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "shard/axes.h"

namespace shard {
namespace {

/// Without size-1 axes, consecutive sub-axes joined.
Axes effective_axes(const Axes& axes) {
  Axes effective;
  for (const AxisRef& axis : axes) {
    if (axis.size > 1) append_joined(effective, axis);
  }
  return effective;
}

Axes sorted(Axes axes) {
  std::sort(axes.begin(), axes.end());
  return effective_axes(axes);
}

std::string quoted(const Mesh& mesh, const AxisRef& axis) {
  const std::string name = to_string(mesh, mesh.full(axis.axis));
  return '"' + name + '"' + to_string(mesh, axis).substr(name.size());
}

std::string quoted_list(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ", ") + quoted(mesh, axis);
  return text;
}

std::string dim_text(const Mesh& mesh, const DimSharding& dim) {
  std::string text = quoted_list(mesh, dim.axes);
  if (dim.is_open) text += text.empty() ? "?" : ", ?";
  return "{" + text + "}";
}

}  // namespace

Sharding open_sharding(int rank) {
  Sharding sharding = replicated_sharding(rank);
  for (DimSharding& dim : sharding.dims) dim.is_open = true;
  return sharding;
}

Sharding replicated_sharding(int rank) {
  Sharding sharding;
  sharding.dims.resize(static_cast<std::size_t>(rank));
  return sharding;
}

Sharding closed(Sharding sharding) {
  for (DimSharding& dim : sharding.dims) dim.is_open = false;
  return sharding;
}

std::int64_t part_count(const DimSharding& dim) { return product(dim.axes); }

Shape local_shape(const Shape& shape, const Sharding& sharding) {
  SHARD_CHECK(shape.size() == sharding.dims.size(), "a sharding has one entry per dim");
  Shape local(shape.size());
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t parts = part_count(sharding.dims[dim]);
    if (shape[dim] == unknown_size) {
      local[dim] = unknown_size;
      continue;
    }
    local[dim] = shape[dim] / parts + (shape[dim] % parts == 0 ? 0 : 1);
  }
  return local;
}

bool divides_evenly(const Shape& shape, const Sharding& sharding) {
  SHARD_CHECK(shape.size() == sharding.dims.size(), "a sharding has one entry per dim");
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == unknown_size) continue;
    if (shape[dim] % part_count(sharding.dims[dim]) != 0) return false;
  }
  return true;
}

PartitionSpec effective_spec(const Mesh& mesh, const Sharding& sharding) {
  PartitionSpec spec;
  std::size_t used = 0;
  for (const DimSharding& dim : sharding.dims) {
    PartitionEntry& entry = spec.entries.emplace_back();
    for (const AxisRef& axis : effective_axes(dim.axes)) {
      entry.axes.emplace_back(to_string(mesh, axis));
    }
    if (!entry.axes.empty()) used = spec.entries.size();
  }
  spec.entries.resize(used);
  return spec;
}

std::string spec_text(const Mesh& mesh, const Sharding& sharding) {
  PartitionSpec spec = effective_spec(mesh, sharding);
  if (!spec.entries.empty()) spec.entries.resize(sharding.dims.size());
  return to_string(spec);
}

std::string to_string(const Mesh& mesh, const Sharding& sharding) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    text += (dim == 0 ? "" : ", ") + dim_text(mesh, sharding.dims[dim]);
  }
  text += "]";
  if (!sharding.replicated.empty()) {
    text += ", replicated={" + quoted_list(mesh, sharding.replicated) + "}";
  }
  if (!sharding.unreduced.empty()) {
    text += ", unreduced={" + quoted_list(mesh, sharding.unreduced) + "}";
  }
  return text;
}

bool is_equivalent(const Mesh&, const Sharding& a, const Sharding& b) {
  if (a.dims.size() != b.dims.size() || sorted(a.unreduced) != sorted(b.unreduced)) return false;
  for (std::size_t dim = 0; dim < a.dims.size(); ++dim) {
    if (effective_axes(a.dims[dim].axes) != effective_axes(b.dims[dim].axes)) return false;
  }
  return true;
}

std::int64_t copy_count(const Mesh& mesh, const Sharding& sharding) {
  std::int64_t used = product(sharding.unreduced);
  for (const DimSharding& dim : sharding.dims) used *= part_count(dim);
  return mesh.device_count() / used;
}

}  // namespace shard
