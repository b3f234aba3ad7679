#include "spmd/cheapest_reshard.h"

#include <algorithm>

#include "base/check.h"
#include "shard/axis_atoms.h"
#include "spmd/axes.h"
#include "spmd/plain_reduction.h"
#include "spmd/reshard_search.h"
#include "spmd/reshard_steps.h"
#include "spmd/step_order.h"

namespace shard {
namespace {

using spmd::ReshardSpace;

/// The mesh cut where one of the shardings is; where idle axes may not help, what they have of it.
Axes coarse_pieces(const Mesh& mesh, const Sharding& from, const Sharding& to, bool idle_axes) {
  Axes used = used_axes(from);
  const Axes more = used_axes(to);
  used.insert(used.end(), more.begin(), more.end());
  Axes pieces = mesh_atoms(mesh, used);
  const auto is_idle = [&](const AxisRef& piece) {
    return std::none_of(used.begin(), used.end(),
                        [&](const AxisRef& axis) { return contains(axis, piece); });
  };
  if (!idle_axes) std::erase_if(pieces, is_idle);
  return pieces;
}

/// Pieces with prime numbers of parts, the smallest first.
Axes prime_pieces(const Axes& pieces) {
  Axes primes;
  for (AxisRef rest : pieces) {
    for (std::int64_t prime = 2; rest.size > 1; ++prime) {
      if (prime * prime > rest.size) prime = rest.size;
      while (rest.size % prime == 0) {
        primes.push_back({rest.axis, rest.pre_size, prime});
        rest = {rest.axis, rest.pre_size * prime, rest.size / prime};
      }
    }
  }
  return primes;
}

/// Every axis can be cut at all the places where one of the shardings is: not x of 6 at 2 and at 3.
bool is_cut_evenly(const Axes& used) {
  return std::all_of(used.begin(), used.end(), [&](const AxisRef& one) {
    return std::all_of(used.begin(), used.end(), [&](const AxisRef& other) {
      const auto nests = [](std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; };
      return one.axis != other.axis ||
             (nests(one.pre_size, other.pre_size) && nests(one.pre_size, spmd::end_of(other)) &&
              nests(spmd::end_of(one), spmd::end_of(other)));
    });
  });
}

/// To reduce, gather and slice everything always works.
std::int64_t most_bytes(const ReshardSpace& space) {
  const std::int64_t held = space.local_bytes(space.start());
  return held * (space.product_of(space.start(), 0, space.start().size()) + 2);
}

class CheapestReshard {
 public:
  CheapestReshard(const Mesh& mesh, const TensorType& global, const Sharding& from,
                  const Sharding& to, const ReshardLimits& limits)
      : mesh_(mesh), global_(global), from_(from), to_(to), limits_(limits) {}

  std::optional<ReshardPlan> run() {
    const Axes coarse = coarse_pieces(mesh_, from_, to_, limits_.idle_axes);
    const Axes primes = prime_pieces(coarse);
    try_plain_reduction(coarse);
    if (!is_proved()) search(coarse);
    if (limits_.cuts_axes && primes != coarse) {
      // Finer pieces may do better than what was proved of coarse ones.
      lower_bound_ = bytes_to_receive(coarse);
      if (!is_proved()) search(primes);
    }
    if (!is_proved() && !limits_.below) try_compatible();
    if (best_) best_->lower_bound = std::min(lower_bound_, best_->wire);
    return std::move(best_);
  }

 private:
  bool is_proved() const { return best_ && best_->wire <= lower_bound_; }

  void try_plain_reduction(const Axes& pieces) {
    const ReshardSpace space(global_, from_, to_, pieces);
    const auto steps = spmd::plain_reduction(space);
    if (!steps) return;
    lower_bound_ = Bytes(space.bytes_to_receive(space.start()));
    keep(weighed(global_, from_, spmd::reshard_steps(space, *steps)));
  }

  void search(const Axes& pieces) {
    const ReshardSpace space(global_, from_, to_, pieces);
    spmd::SearchLimits limits;
    limits.bytes = best_ ? best_->wire.count() - 1 : most_bytes(space);
    if (limits_.below) limits.bytes = std::min(limits.bytes, limits_.below->count() - 1);
    limits.memory = limits_.memory.count();
    limits.layouts = limits_.layouts;
    const std::int64_t least = space.bytes_to_receive(space.start());
    if (least > limits.bytes) {
      lower_bound_ = std::max(lower_bound_, Bytes(least));
      return;
    }
    const spmd::SearchResult found = spmd::cheapest_path(space, limits);
    lower_bound_ = Bytes(std::max(lower_bound_.count(), found.lower_bound));
    if (found.steps) keep(weighed(global_, from_, spmd::reshard_steps(space, *found.steps)));
  }

  Bytes bytes_to_receive(const Axes& pieces) const {
    const ReshardSpace space(global_, from_, to_, pieces);
    return Bytes(space.bytes_to_receive(space.start()));
  }

  void try_compatible() {
    if (!divides_evenly(global_.shape, from_) || !divides_evenly(global_.shape, to_)) return;
    if (!to_.unreduced.empty()) return;
    keep(weighed(global_, from_, plan_reshard(mesh_, global_, from_, to_)));
  }

  void keep(ReshardPlan plan) {
    const bool fits = (limits_.memory == Bytes(0) || plan.peak <= limits_.memory) &&
                      (!limits_.below || plan.wire < *limits_.below);
    if (fits && (!best_ || plan.wire < best_->wire)) best_ = std::move(plan);
  }

  const Mesh& mesh_;
  const TensorType& global_;
  const Sharding& from_;
  const Sharding& to_;
  const ReshardLimits& limits_;
  Bytes lower_bound_;
  std::optional<ReshardPlan> best_;
};

/// For sub-axes that do not nest: everything is gathered, then sliced.
std::optional<ReshardPlan> by_way_of_whole(const TensorType& global, const Sharding& from,
                                           const Sharding& to, const ReshardLimits& limits) {
  Sharding whole = replicated_sharding(from.rank());
  whole.unreduced = to.unreduced;
  std::vector<ReshardStep> steps;
  const auto add = [&](const Sharding& start, const Sharding& goal, const Sharding& split) {
    const ReshardSpace space(global, start, goal, used_axes(split));
    const spmd::SearchResult found =
        spmd::cheapest_path(space, {most_bytes(space), limits.memory.count(), limits.layouts});
    if (!found.steps) return false;
    const std::vector<ReshardStep> more = spmd::reshard_steps(space, *found.steps);
    steps.insert(steps.end(), more.begin(), more.end());
    return true;
  };
  if (!add(from, whole, from) || !add(whole, to, to)) return std::nullopt;
  return weighed(global, from, std::move(steps));
}

}  // namespace

ReshardPlan weighed(const TensorType& global, const Sharding& from,
                    std::vector<ReshardStep> steps) {
  ReshardPlan plan;
  Bytes held = bytes_of({global.dtype, local_shape(global.shape, from)});
  plan.peak = held;
  for (const ReshardStep& step : steps) {
    const bool gathers = step.collective.kind == CollectiveKind::all_gather;
    const Bytes made = gathers ? step.collective.payload : bytes_of({global.dtype, step.local});
    plan.peak = std::max(plan.peak, held + made);
    if (step.collective.reduction == Reduction::none) {
      plan.moved_peak = std::max(plan.moved_peak, held + made);
    }
    plan.wire += step.collective.wire;
    held = bytes_of({global.dtype, step.local});
  }
  plan.steps = std::move(steps);
  return plan;
}

std::optional<ReshardPlan> cheapest_reshard(const Mesh& mesh, const TensorType& global,
                                            const Sharding& from, const Sharding& to,
                                            const ReshardLimits& limits) {
  const Sharding start = spmd::canonical(from), goal = spmd::canonical(to);
  if (limits.memory > Bytes(0) &&
      bytes_of({global.dtype, local_shape(global.shape, start)}) > limits.memory)
    return std::nullopt;
  if (start == goal) return weighed(global, start, {});
  Axes used = used_axes(start);
  const Axes more = used_axes(goal);
  used.insert(used.end(), more.begin(), more.end());
  std::optional<ReshardPlan> best = is_cut_evenly(used)
                                        ? CheapestReshard(mesh, global, start, goal, limits).run()
                                        : by_way_of_whole(global, start, goal, limits);
  if (!best) return std::nullopt;
  ReshardPlan sorted = spmd::with_outer_axes_least(global, start, *best);
  const bool fits = limits.memory == Bytes(0) || sorted.peak <= limits.memory;
  return fits ? std::move(sorted) : std::move(best);
}

/// By halving: more memory never makes a way impossible.
ReshardPlan leanest_reshard(const Mesh& mesh, const TensorType& global, const Sharding& from,
                            const Sharding& to, const ReshardLimits& limits) {
  ReshardLimits tried = limits;
  tried.memory = Bytes(0);
  std::optional<ReshardPlan> best = cheapest_reshard(mesh, global, from, to, tried);
  SHARD_CHECK(best.has_value(), "without a limit there is always a way");
  std::int64_t too_little = limits.memory.count();
  while (too_little + 1 < best->peak.count()) {
    tried.memory = Bytes(too_little + (best->peak.count() - too_little) / 2);
    if (auto leaner = cheapest_reshard(mesh, global, from, to, tried)) {
      best = std::move(leaner);
    } else {
      too_little = tried.memory.count();
    }
  }
  return *std::move(best);
}

}  // namespace shard
