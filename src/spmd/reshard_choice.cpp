#include "spmd/reshard_choice.h"

#include <algorithm>
#include <utility>

#include "shard/axes.h"
#include "spmd/axes.h"
#include "spmd/step_order.h"

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

const std::string& ReshardChoice::key_of(const TensorType& type, const Sharding& from,
                                         const Sharding& to) {
  key_.clear();
  key_.add(type);
  key_.add(from);
  key_.add(to);
  return key_.text();
}

const ReshardPlan& ReshardChoice::compatible(const TensorType& type, const Sharding& from,
                                             const Sharding& to) {
  const std::string& key = key_of(type, from, to);
  const auto found = compatible_.find(key);
  if (found != compatible_.end()) return found->second;
  ReshardPlan plan = weighed(type, from, plan_reshard(mesh_, type, from, to));
  if (!fits(plan)) plan = within_memory(type, from, to);
  return compatible_.emplace(key, std::move(plan)).first->second;
}

const ReshardPlan* ReshardChoice::way(const TensorType& type, const Sharding& from,
                                      const Sharding& to) {
  auto found = cheapest_.find(key_of(type, from, to));
  if (found == cheapest_.end()) {
    std::optional<ReshardPlan> made = plan(type, from, to);
    found = cheapest_.emplace(key_of(type, from, to), std::move(made)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<ReshardPlan> ReshardChoice::plan(const TensorType& type, const Sharding& from,
                                               const Sharding& to) {
  if (!has_sums(from, to.unreduced)) return std::nullopt;
  ReshardLimits limits{Bytes(0), most_layouts_per_way, false, false};
  if (!to.unreduced.empty()) return cheapest_reshard(mesh_, type, from, to, limits);
  const ReshardPlan& plain = compatible(type, from, to);
  ReshardPlan sorted = with_outer_axes_least(type, from, plain);
  if (fits(plain) && !fits(sorted)) sorted = plain;
  if (is_obvious(from, to)) return sorted;
  limits.below = plain.wire;
  if (from.unreduced.empty()) limits.memory = memory_;
  std::optional<ReshardPlan> best = cheapest_reshard(mesh_, type, from, to, limits);
  return best && fits(*best) ? std::move(best) : std::optional(std::move(sorted));
}

ReshardPlan ReshardChoice::within_memory(const TensorType& type, const Sharding& from,
                                         const Sharding& to) {
  ReshardLimits limits;
  limits.memory = memory_;
  std::optional<ReshardPlan> best = cheapest_reshard(mesh_, type, from, to, limits);
  return best ? *std::move(best) : leanest_reshard(mesh_, type, from, to, limits);
}

void ReshardChoice::limit_memory(Bytes memory) {
  if (memory == memory_) return;
  memory_ = memory;
  compatible_.clear();
  cheapest_.clear();
}

}  // namespace shard::spmd
