#include "spmd/step_order.h"

#include <algorithm>
#include <utility>

#include "spmd/axes.h"

namespace shard::spmd {
namespace {

using Steps = std::vector<ReshardStep>;

bool changes_one_dim(const ReshardStep& step) {
  return step.collective.kind == CollectiveKind::all_gather ||
         step.collective.kind == CollectiveKind::reduce_scatter;
}

const AxisRef& outermost(const ReshardStep& step) {
  return *std::min_element(step.collective.axes.begin(), step.collective.axes.end());
}

bool comes_first(const ReshardStep& one, const ReshardStep& other) {
  return one.collective.kind == CollectiveKind::all_gather ? outermost(one) < outermost(other)
                                                           : outermost(other) < outermost(one);
}

/// Where the steps of the same kind over other dims end.
std::size_t end_of_run(const Steps& steps, std::size_t begin) {
  std::size_t end = begin + 1;
  const auto is_other_dim = [&](const ReshardStep& step) {
    return step.collective.kind == steps[begin].collective.kind &&
           std::none_of(&steps[begin], &steps[end], [&](const ReshardStep& before) {
             return before.collective.dim == step.collective.dim;
           });
  };
  while (end < steps.size() && is_other_dim(steps[end])) ++end;
  return end;
}

/// Says whether anything moves.
bool sort_runs(Steps& steps) {
  bool has_moved = false;
  for (std::size_t begin = 0; begin < steps.size();) {
    const std::size_t end = changes_one_dim(steps[begin]) ? end_of_run(steps, begin) : begin + 1;
    const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
    has_moved |= !std::is_sorted(at(begin), at(end), comes_first);
    std::stable_sort(at(begin), at(end), comes_first);
    begin = end;
  }
  return has_moved;
}

Axes without(const Axes& sums, const Axes& gone) {
  Axes left = aligned({sums}, {gone}).front();
  std::erase_if(left, [&](const AxisRef& axis) {
    return std::any_of(gone.begin(), gone.end(),
                       [&](const AxisRef& one) { return contains(one, axis); });
  });
  return merged(left);
}

/// What is held after each step, and what it sends, from what the step makes of its own dim.
void follow(const TensorType& global, const Sharding& from, Steps& steps) {
  Sharding now = canonical(from);
  Shape local = local_shape(global.shape, from);
  for (ReshardStep& step : steps) {
    if (!changes_one_dim(step)) {
      now = step.after;
      local = step.local;
      continue;
    }
    const auto dim = static_cast<std::size_t>(step.collective.dim);
    const bool gathers = step.collective.kind == CollectiveKind::all_gather;
    const Bytes before = bytes_of({global.dtype, local});
    const std::int64_t parts = product(step.collective.axes);
    now.dims[dim] = step.after.dims[dim];
    if (!gathers) now.unreduced = without(now.unreduced, step.collective.axes);
    local[dim] = step.local[dim];
    step.after = now;
    step.local = local;
    step.collective.payload = gathers ? parts * before : before;
    step.collective.wire = wire_bytes(step.collective.kind, before, parts);
  }
}

}  // namespace

ReshardPlan with_outer_axes_least(const TensorType& global, const Sharding& from,
                                  ReshardPlan plan) {
  Steps steps = plan.steps;
  if (!sort_runs(steps)) return plan;
  follow(global, from, steps);
  ReshardPlan sorted = weighed(global, from, std::move(steps));
  sorted.lower_bound = plan.lower_bound;
  return sorted.wire == plan.wire ? sorted : plan;
}

}  // namespace shard::spmd
