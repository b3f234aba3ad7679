#include "spmd/axes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"

namespace shard::spmd {
namespace {

/// Edges of other axes that lie strictly inside this one.
std::vector<std::int64_t> inner_edges(const AxisRef& axis, const AxesPerDim& one,
                                      const AxesPerDim& two) {
  std::vector<std::int64_t> edges;
  for (const AxesPerDim* side : {&one, &two}) {
    for (const Axes& dim : *side) {
      for (const AxisRef& other : dim) {
        if (other.axis != axis.axis) continue;
        for (const std::int64_t edge : {other.pre_size, end_of(other)}) {
          if (axis.pre_size < edge && edge < end_of(axis)) edges.push_back(edge);
        }
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

std::int64_t end_of(const AxisRef& axis) { return axis.pre_size * axis.size; }

std::pair<AxisRef, AxisRef> split(const AxisRef& axis, std::int64_t size) {
  return {leading_part(axis, size), trailing_part(axis, size)};
}

Axes merged(std::span<const AxisRef> axes) {
  Axes result;
  for (const AxisRef& axis : axes) append_joined(result, axis);
  return result;
}

Axes cut(Axes axes, std::span<const AxisRef> others) {
  cut_overlapping(axes, others);
  return axes;
}

Axes in_mesh_order(Axes axes) {
  std::sort(axes.begin(), axes.end());
  return merged(axes);
}

Axes spanned(std::span<const AxisRef> axes) {
  std::map<int, std::pair<std::int64_t, std::int64_t>>
      ends;  // per mesh axis where the span begins and ends
  for (const AxisRef& axis : axes) {
    const auto [at, is_new] = ends.try_emplace(axis.axis, axis.pre_size, end_of(axis));
    if (is_new) continue;
    at->second.first = std::gcd(at->second.first, axis.pre_size);
    at->second.second = std::lcm(at->second.second, end_of(axis));
  }
  Axes all;
  for (const auto& [axis, span] : ends) all.push_back({axis, span.first, span.second / span.first});
  return all;
}

AxesPerDim aligned(const AxesPerDim& axes, const AxesPerDim& others) {
  AxesPerDim result(axes.size());
  for (std::size_t dim = 0; dim < axes.size(); ++dim) {
    for (AxisRef axis : axes[dim]) {
      for (const std::int64_t edge : inner_edges(axis, axes, others)) {
        const auto [first, rest] = split(axis, edge / axis.pre_size);
        result[dim].push_back(first);
        axis = rest;
      }
      result[dim].push_back(axis);
    }
  }
  return result;
}

Axes appended(const Axes& before, const Axes& after) {
  SHARD_CHECK(is_prefix(before, after), "the longer axis list extends the shorter one");
  return beyond(before, after);
}

AxesPerDim axes_of(const Sharding& sharding) {
  AxesPerDim axes;
  axes.reserve(sharding.dims.size());
  for (const DimSharding& dim : sharding.dims) axes.push_back(dim.axes);
  return axes;
}

Sharding with_axes(const AxesPerDim& axes) {
  Sharding sharding;
  sharding.dims.reserve(axes.size());
  for (const Axes& dim : axes) sharding.dims.push_back({dim, false});
  return sharding;
}

Sharding canonical(const Sharding& sharding) {
  const auto effective = [](Axes axes) {
    std::erase_if(axes, [](const AxisRef& axis) { return axis.size == 1; });
    return merged(axes);
  };
  AxesPerDim axes = axes_of(sharding);
  for (Axes& dim : axes) dim = effective(dim);
  Sharding result = with_axes(axes);
  result.unreduced = in_mesh_order(effective(sharding.unreduced));
  return result;
}

}  // namespace shard::spmd
