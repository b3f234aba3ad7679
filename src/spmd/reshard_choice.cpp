#include "spmd/reshard_choice.h"

#include <algorithm>

#include "shard/axes.h"

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

}  // namespace

const ReshardPlan* ReshardChoice::way(const TensorType& type, const Sharding& from,
                                      const Sharding& to) {
  const std::string key = to_string(type) + to_string(mesh_, from) + " to " + to_string(mesh_, to);
  auto found = plans_.find(key);
  if (found == plans_.end()) found = plans_.emplace(key, plan(type, from, to)).first;
  return found->second ? &*found->second : nullptr;
}

std::optional<ReshardPlan> ReshardChoice::plan(const TensorType& type, const Sharding& from,
                                               const Sharding& to) const {
  if (!has_sums(from, to.unreduced)) return std::nullopt;
  if (mode_ == ReshardMode::cheapest || !to.unreduced.empty())
    return cheapest_reshard(mesh_, type, from, to, {Bytes(0), most_layouts_per_way});
  return weighed(type, from, plan_reshard(mesh_, type, from, to));
}

}  // namespace shard::spmd
