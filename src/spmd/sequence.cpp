#include "spmd/sequence.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace shard::spmd {
namespace {

using Dim = std::size_t;

bool divide_either_way(std::int64_t one, std::int64_t other) {
  return one % other == 0 || other % one == 0;
}

/// `ins` and `outs` are the axes that still have to leave and to arrive, per dim; `capacity` is by
/// how much the shard count of a dim may still grow in the step at hand.
class Sequence {
 public:
  Sequence(const Shape& shape, const AxesPerDim& start, const AxesPerDim& goal)
      : shape_(shape),
        now_(start),
        ins_(aligned(start, goal)),
        outs_(aligned(goal, start)),
        capacity_(shape.size(), 1) {
    for (Dim dim = 0; dim < shape.size(); ++dim) {
      Axes &ins = ins_[dim], &outs = outs_[dim];
      const auto [in, out] = std::mismatch(ins.begin(), ins.end(), outs.begin(), outs.end());
      outs.erase(outs.begin(), out);
      ins.erase(ins.begin(), in);
    }
    find_targets();
  }

  std::vector<SequenceStep> run() {
    for (int round = 0; round < 2; ++round) {
      if (is_done()) break;
      all_slice();
      if (needs_permute()) permute();
      all_to_alls(true);
      all_to_alls(false);
      all_gather();
    }
    return steps_;
  }

 private:
  struct Target {
    Dim dim;
    std::size_t index;
    friend bool operator==(const Target&, const Target&) = default;
  };

  bool is_done() const {
    const auto empty = [](const Axes& axes) { return axes.empty(); };
    return std::all_of(ins_.begin(), ins_.end(), empty) &&
           std::all_of(outs_.begin(), outs_.end(), empty);
  }

  void find_targets() {
    targets_.clear();
    for (Dim dim = 0; dim < outs_.size(); ++dim) {
      for (std::size_t i = 0; i < outs_[dim].size(); ++i) targets_[outs_[dim][i]] = {dim, i};
    }
  }

  std::optional<Target> target_of(const AxisRef& axis) const {
    const auto found = targets_.find(axis);
    return found == targets_.end() ? std::nullopt : std::optional(found->second);
  }

  /// All axes that still have to leave their place.
  std::set<AxisRef> present() const {
    std::set<AxisRef> axes;
    for (const Axes& dim : ins_) axes.insert(dim.begin(), dim.end());
    return axes;
  }

  void emit(CollectiveKind kind, const Axes& axes) { steps_.push_back({kind, now_, merged(axes)}); }

  void push(Dim dim, const AxisRef& axis) {
    now_[dim].push_back(axis);
    now_[dim] = merged(now_[dim]);
  }

  /// Removes trailing axes from the current sharding.
  void pop(Dim dim, std::span<const AxisRef> axes) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      const std::optional<AxisRef> prefix =
          prefix_without(now_[dim].back(), std::span(&axes[i], 1));
      now_[dim].pop_back();
      if (prefix) now_[dim].push_back(*prefix);
    }
  }

  struct Fit {
    std::optional<AxisRef> part, rest;
  };

  /// The part of the axis within the dim's capacity, and the rest; uses the capacity up.
  Fit fit(Dim dim, const AxisRef& axis) {
    const std::int64_t capacity = capacity_[dim];
    if (capacity <= 1 || !divide_either_way(axis.size, capacity)) return {};
    capacity_[dim] = std::max<std::int64_t>(1, capacity / axis.size);
    if (capacity >= axis.size) return {axis, std::nullopt};
    const auto [part, rest] = split(axis, capacity);
    return {part, rest};
  }

  struct Placed {
    Dim dim;
    AxisRef axis;
  };

  /// Adds available axes to `ins` of the dim while it has capacity, splitting them to fit.
  std::vector<Placed> distribute(Axes& available, Dim dim, bool at_front) {
    std::vector<Placed> placed;
    Axes news;
    for (std::size_t i = 0; i < available.size() && capacity_[dim] > 1;) {
      const Fit fitting = fit(dim, available[i]);
      if (!fitting.part) {
        ++i;
        continue;
      }
      available.erase(available.begin() + static_cast<std::ptrdiff_t>(i));
      if (fitting.rest) available.insert(available.begin(), *fitting.rest);
      news.push_back(*fitting.part);
      placed.push_back({dim, *fitting.part});
    }
    Axes& ins = ins_[dim];
    ins.insert(at_front ? ins.begin() : ins.end(), news.begin(), news.end());
    return placed;
  }

  /// The same over all dims in order; afterwards the arriving axes are cut like the leaving ones.
  std::vector<Placed> distribute_anywhere(Axes& available, bool at_front) {
    std::vector<Placed> placed;
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      for (const Placed& one : distribute(available, dim, at_front)) placed.push_back(one);
    }
    outs_ = aligned(outs_, ins_);
    return placed;
  }

  /// Step 1: slices free axes at the source of a later all-to-all, in their own dim, or where
  /// there is capacity.
  void all_slice() {
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      const std::int64_t wanted = product(outs_[dim]);
      capacity_[dim] = wanted / std::gcd(product(ins_[dim]), wanted);
    }
    Axes sliced, waiting;
    for (Dim dim = 0; dim < ins_.size(); ++dim) slice_at_source(dim, sliced);
    for (Dim dim = 0; dim < ins_.size(); ++dim) slice_in_place(dim, sliced, waiting);
    for (const Placed& one : distribute_anywhere(waiting, false)) {
      push(one.dim, one.axis);
      sliced.push_back(one.axis);
    }
    find_targets();
    if (!sliced.empty()) emit(CollectiveKind::all_slice, sliced);
  }

  /// Free axes that follow the source's last axis in its target dim ride along.
  void slice_at_source(Dim source, Axes& sliced) {
    Axes& ins = ins_[source];
    if (ins.empty() || !outs_[source].empty()) return;
    const std::optional<Target> last = target_of(ins.back());
    if (!last || !ins_[last->dim].empty()) return;
    const Axes& outs = outs_[last->dim];
    const Axes riders = free_run(outs, last->index + 1);
    std::size_t common = 0;
    while (common < std::min(ins.size(), last->index + 1) &&
           ins[ins.size() - 1 - common] == outs[last->index - common])
      ++common;
    const bool is_disordered = std::any_of(
        ins.begin(), ins.end() - static_cast<std::ptrdiff_t>(common), [&](const AxisRef& axis) {
          return std::find(outs.begin(), outs.end(), axis) != outs.end();
        });
    const std::int64_t enlarged = product(now_[source]) * product(riders);
    if (riders.empty() || is_disordered || shape_[source] % enlarged != 0) return;
    const Axes moving(ins.end() - static_cast<std::ptrdiff_t>(common), ins.end());
    capacity_[last->dim] /= product(moving) * product(riders);
    for (const AxisRef& axis : riders) {
      ins.push_back(axis);
      push(source, axis);
      sliced.push_back(axis);
    }
  }

  /// The axes from `first` on that no dim has yet.
  Axes free_run(const Axes& outs, std::size_t first) const {
    const std::set<AxisRef> taken = present();
    Axes run;
    for (std::size_t i = first; i < outs.size() && !taken.contains(outs[i]); ++i)
      run.push_back(outs[i]);
    return run;
  }

  /// Free axes of the dim within its capacity; the others wait for another dim.
  void slice_in_place(Dim dim, Axes& sliced, Axes& waiting) {
    const std::set<AxisRef> taken = present();
    Axes outs;
    for (const AxisRef& axis : outs_[dim]) {
      const bool is_free = !taken.contains(axis);
      const Fit fitting = is_free ? fit(dim, axis) : Fit{};
      if (fitting.part) {
        sliced.push_back(*fitting.part);
        push(dim, *fitting.part);
        if (!ins_[dim].empty() || !outs.empty()) {
          ins_[dim].push_back(*fitting.part);
          outs.push_back(*fitting.part);
        }
      } else {
        outs.push_back(axis);
        if (is_free) waiting.push_back(axis);
      }
      if (fitting.rest) {
        outs.push_back(*fitting.rest);
        waiting.push_back(*fitting.rest);
      }
    }
    outs_[dim] = outs;
  }

  /// Step 2 is needed when axes trade places, are out of order, or can replace each other.
  bool needs_permute() const {
    std::optional<AxisRef> leaving, arriving;
    const std::set<AxisRef> taken = present();
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      const Axes &ins = ins_[dim], &outs = outs_[dim];
      if (!ins.empty() && !outs.empty() && divide_either_way(ins[0].size, outs[0].size))
        return true;
      for (const AxisRef& axis : outs) {
        if (!taken.contains(axis)) arriving = axis;
      }
      if (is_disordered(dim)) return true;
      for (const AxisRef& axis : ins) {
        if (!target_of(axis)) leaving = axis;
      }
    }
    return leaving && arriving && divide_either_way(leaving->size, arriving->size);
  }

  /// Axes of the dim for one target not contiguous or not in order; or an axis to gather behind one
  /// to move.
  bool is_disordered(Dim dim) const {
    std::set<Dim> seen;
    std::optional<Target> last;
    for (const AxisRef& axis : ins_[dim]) {
      const std::optional<Target> target = target_of(axis);
      if (!target && last && outs_[dim].empty()) return true;
      const bool follows = last && target == Target{last->dim, last->index + 1};
      if (target && (target->dim == dim || seen.contains(target->dim)) && !follows) return true;
      if (target) seen.insert(target->dim);
      last = target;
    }
    return false;
  }

  /// Rewrites the axes of every dim, keeping the shard count: arriving axes first, leaving axes at
  /// the front.
  void permute() {
    Axes arriving;
    AxesPerDim leaving;
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      pop(dim, ins_[dim]);
      const std::int64_t count = product(ins_[dim]);
      capacity_[dim] = count;
      place_arriving(dim);
      arriving.insert(arriving.end(), outs_[dim].begin(), outs_[dim].end());
      leaving.push_back(leaving_axes(dim, count / capacity_[dim]));
      ins_[dim].clear();
    }
    distribute_anywhere(arriving, false);
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      distribute(leaving[dim], dim, true);
      outs_ = aligned(outs_, ins_);
    }
    Axes left;
    for (const Axes& dim : leaving) left.insert(left.end(), dim.begin(), dim.end());
    distribute_anywhere(left, true);
    find_targets();
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      for (const AxisRef& axis : ins_[dim]) push(dim, axis);
    }
    emit(CollectiveKind::collective_permute, {});
  }

  /// Arriving axes in their final position, within capacity.
  void place_arriving(Dim dim) {
    Axes& outs = outs_[dim];
    while (!outs.empty() && capacity_[dim] > 1) {
      const Fit fitting = fit(dim, outs.front());
      if (!fitting.part) break;
      outs.erase(outs.begin());
      if (fitting.rest) outs.insert(outs.begin(), *fitting.rest);
      push(dim, *fitting.part);
    }
  }

  /// The dim's axes wanted nowhere: those past the replaced shard count first, so that they stay
  /// in place.
  Axes leaving_axes(Dim dim, std::int64_t replaced) const {
    Axes rest, moved;
    for (const AxisRef& axis : ins_[dim]) {
      if (!target_of(axis)) rest.push_back(axis);
    }
    while (!rest.empty() && replaced > 1 && divide_either_way(rest.front().size, replaced)) {
      AxisRef axis = rest.front();
      rest.erase(rest.begin());
      if (replaced < axis.size) {
        const auto [first, remainder] = split(axis, replaced);
        rest.insert(rest.begin(), remainder);
        axis = first;
      }
      moved.push_back(axis);
      replaced /= axis.size;
    }
    rest.insert(rest.end(), moved.begin(), moved.end());
    return rest;
  }

  /// Step 3, once in order and once in any order.
  void all_to_alls(bool in_order) {
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      while (all_to_all(dim, in_order)) {
      }
    }
  }

  /// Moves the trailing axes of a dim that share one target; in order only if they land in the
  /// right place.
  bool all_to_all(Dim source, bool in_order) {
    Axes& ins = ins_[source];
    const auto goal = [&](const AxisRef& axis) {
      const std::optional<Target> target = target_of(axis);
      return target ? target->dim : source;
    };
    const Dim target = ins.empty() ? source : goal(ins.back());
    if (target == source) return false;
    std::size_t start = ins.size();
    while (start > 0 && goal(ins[start - 1]) == target) --start;
    const Axes axes(ins.begin() + static_cast<std::ptrdiff_t>(start), ins.end());
    Axes& outs = outs_[target];
    const bool lands =
        axes.size() <= outs.size() && std::equal(axes.begin(), axes.end(), outs.begin());
    if (in_order && !lands) return false;
    pop(source, axes);
    ins.resize(start);
    for (const AxisRef& axis : axes) {
      push(target, axis);
      if (ins_[target].empty() && !outs.empty() && outs.front() == axis)
        outs.erase(outs.begin());
      else
        ins_[target].push_back(axis);
    }
    emit(CollectiveKind::all_to_all, axes);
    return true;
  }

  /// Step 4: gathers, in all dims at once, the trailing axes wanted nowhere.
  void all_gather() {
    Axes gathered;
    for (Dim dim = 0; dim < ins_.size(); ++dim) {
      Axes& ins = ins_[dim];
      std::size_t start = ins.size();
      while (start > 0 && !target_of(ins[start - 1])) --start;
      const Axes axes(ins.begin() + static_cast<std::ptrdiff_t>(start), ins.end());
      pop(dim, axes);
      ins.resize(start);
      gathered.insert(gathered.end(), axes.begin(), axes.end());
    }
    if (!gathered.empty()) emit(CollectiveKind::all_gather, gathered);
  }

  const Shape& shape_;
  AxesPerDim now_, ins_, outs_;
  std::vector<std::int64_t> capacity_;
  std::map<AxisRef, Target> targets_;
  std::vector<SequenceStep> steps_;
};

/// Of any two edges of sub-axes of one axis, one divides the other.
bool is_nested(const AxesPerDim& start, const AxesPerDim& goal) {
  std::map<int, std::set<std::int64_t>> edges;
  for (const AxesPerDim* side : {&start, &goal}) {
    for (const Axes& dim : *side) {
      for (const AxisRef& axis : dim) edges[axis.axis].insert({axis.pre_size, end_of(axis)});
    }
  }
  for (const auto& [axis, sorted] : edges) {
    const auto breaks = [](std::int64_t a, std::int64_t b) { return b % a != 0; };
    if (std::adjacent_find(sorted.begin(), sorted.end(), breaks) != sorted.end()) return false;
  }
  return true;
}

}  // namespace

std::vector<SequenceStep> collective_sequence(const Shape& shape, const AxesPerDim& start,
                                              const AxesPerDim& goal) {
  if (!is_nested(start, goal)) return {};
  return Sequence(shape, start, goal).run();
}

}  // namespace shard::spmd
