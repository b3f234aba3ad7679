#include "spmd/reshard_choice.h"

#include <algorithm>

#include "shard/axes.h"
#include "spmd/axes.h"

namespace shard::spmd {
namespace {

/// A program asks for many, and most are found at once.
constexpr std::int64_t most_layouts_per_way = 200;

bool has_sums(const Sharding& sharding, const Axes& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](const AxisRef& axis) {
    return std::any_of(sharding.unreduced.begin(), sharding.unreduced.end(),
                       [&](const AxisRef& one) { return contains(one, axis); });
  });
}

void add_to_key(std::string& key, const Axes& axes) {
  for (const AxisRef& axis : axes) {
    for (const std::int64_t number :
         {static_cast<std::int64_t>(axis.axis), axis.pre_size, axis.size})
      key += std::to_string(number) + ",";
  }
  key += '|';
}

void add_to_key(std::string& key, const Sharding& sharding) {
  for (const DimSharding& dim : sharding.dims) add_to_key(key, dim.axes);
  add_to_key(key, sharding.unreduced);
}

/// Gathers, slices and sums in place: no sequence sends less than such a step alone.
bool is_obvious(const Sharding& from, const Sharding& to) {
  if (from.dims == to.dims) return true;
  if (!from.unreduced.empty()) return false;
  bool grows = false, shrinks = false;
  for (std::size_t dim = 0; dim < from.dims.size(); ++dim) {
    const Axes &now = from.dims[dim].axes, &next = to.dims[dim].axes;
    if (now == next) continue;
    const bool longer = is_prefix(now, next), shorter = is_prefix(next, now);
    if (!longer && !shorter) return false;
    (longer ? grows : shrinks) = true;
  }
  return !grows || !shrinks;
}

}  // namespace

const ReshardPlan* ReshardChoice::way(const TensorType& type, const Sharding& from,
                                      const Sharding& to) {
  std::string key = to_string(type);
  add_to_key(key, from);
  add_to_key(key, to);
  auto found = plans_.find(key);
  if (found == plans_.end()) found = plans_.emplace(std::move(key), plan(type, from, to)).first;
  return found->second ? &*found->second : nullptr;
}

std::optional<ReshardPlan> ReshardChoice::plan(const TensorType& type, const Sharding& from,
                                               const Sharding& to) const {
  if (!has_sums(from, to.unreduced)) return std::nullopt;
  const ReshardLimits limits{Bytes(0), most_layouts_per_way, false, false};
  if (!to.unreduced.empty()) return cheapest_reshard(mesh_, type, from, to, limits);
  ReshardPlan plain = weighed(type, from, plan_reshard(mesh_, type, from, to));
  if (is_obvious(from, to)) return plain;
  std::optional<ReshardPlan> best = cheapest_reshard(mesh_, type, from, to, limits);
  return best && best->wire < plain.wire ? best : std::optional(std::move(plain));
}

}  // namespace shard::spmd
