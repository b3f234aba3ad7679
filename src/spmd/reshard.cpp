#include "spmd/reshard.h"

#include <algorithm>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/sequence.h"

namespace shard {
namespace {

using spmd::AxesPerDim;
using spmd::SequenceStep;

/// Turns steps over several dims into single collectives, and keeps the sharding reached.
class StepWriter {
 public:
  StepWriter(const TensorType& global, const Sharding& start) : global_(global), now_(start) {}

  void reduce(const Axes& axes) {
    Collective collective;
    collective.kind = CollectiveKind::all_reduce;
    collective.axes = axes;
    collective.reduction = Reduction::sum;
    Sharding after = now_;
    std::erase_if(after.unreduced, [&](const AxisRef& axis) {
      return std::any_of(axes.begin(), axes.end(),
                         [&](const AxisRef& one) { return contains(one, axis); });
    });
    add(collective, after);
  }

  void write(const SequenceStep& step) {
    switch (step.kind) {
      case CollectiveKind::all_slice:
      case CollectiveKind::all_gather:
        return per_dim(step);
      case CollectiveKind::all_to_all:
        return all_to_all(step);
      case CollectiveKind::collective_permute:
        return permute(step);
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::collective_broadcast:
      case CollectiveKind::ragged_all_to_all:
        break;
    }
    SHARD_CHECK(false, "a reshard has neither a reduction nor a source");
  }

  std::vector<ReshardStep> take() { return std::move(steps_); }

 private:
  Axes axes(int dim) const { return now_.dims[static_cast<std::size_t>(dim)].axes; }

  static Axes axes(const SequenceStep& step, int dim) {
    return step.after[static_cast<std::size_t>(dim)];
  }

  void per_dim(const SequenceStep& step) {
    const bool grows = step.kind == CollectiveKind::all_slice;
    for (int dim = 0; dim < now_.rank(); ++dim) {
      const Axes before = axes(dim), after = axes(step, dim);
      if (before == after) continue;
      Collective collective;
      collective.kind = step.kind;
      collective.axes = grows ? spmd::appended(before, after) : spmd::appended(after, before);
      collective.dim = dim;
      Sharding next = now_;
      next.dims[static_cast<std::size_t>(dim)].axes = after;
      add(collective, next);
    }
  }

  void all_to_all(const SequenceStep& step) {
    Collective collective;
    collective.kind = step.kind;
    Sharding after = now_;
    for (int dim = 0; dim < now_.rank(); ++dim) {
      const std::int64_t parts = product(axes(dim)), next = product(axes(step, dim));
      if (next < parts) {
        collective.dim = dim;
        collective.axes = spmd::appended(axes(step, dim), axes(dim));
      }
      if (next > parts) collective.split_dim = dim;
      after.dims[static_cast<std::size_t>(dim)].axes = axes(step, dim);
    }
    add(collective, after);
  }

  void permute(const SequenceStep& step) {
    Collective collective;
    collective.kind = step.kind;
    collective.from = now_.dims;
    Sharding after = now_;
    Axes moved;
    for (int dim = 0; dim < now_.rank(); ++dim) {
      const Axes before = axes(dim), next = axes(step, dim);
      after.dims[static_cast<std::size_t>(dim)].axes = next;
      if (before == next) continue;
      moved.insert(moved.end(), before.begin(), before.end());
      moved.insert(moved.end(), next.begin(), next.end());
    }
    if (moved.empty()) return;  // the sequence may ask for an order that is already there
    collective.to = after.dims;
    collective.axes = spmd::spanned(moved);
    add(collective, after);
  }

  void add(Collective collective, const Sharding& after) {
    const Bytes before = local_bytes(now_);
    const bool gathers = collective.kind == CollectiveKind::all_gather;
    collective.payload = gathers ? local_bytes(after) : before;
    collective.wire = wire_bytes(collective.kind, before, product(collective.axes));
    steps_.push_back({std::move(collective), after, local_shape(global_.shape, after)});
    now_ = after;
  }

  Bytes local_bytes(const Sharding& sharding) const {
    return bytes_of({global_.dtype, local_shape(global_.shape, sharding)});
  }

  const TensorType& global_;
  Sharding now_;
  std::vector<ReshardStep> steps_;
};

/// Whole numbers of elements at each step, and the goal is reached.
bool is_usable(const std::vector<SequenceStep>& steps, const Shape& shape, const AxesPerDim& goal) {
  return !steps.empty() && steps.back().after == goal &&
         std::all_of(steps.begin(), steps.end(), [&](const SequenceStep& step) {
           return divides_evenly(shape, spmd::with_axes(step.after));
         });
}

bool lies_in(const Mesh& mesh, const Sharding& sharding) {
  const auto is_axis = [&](const AxisRef& ref) {
    return ref.axis >= 0 && static_cast<std::size_t>(ref.axis) < mesh.axes().size() &&
           mesh.size(ref.axis) % (ref.pre_size * ref.size) == 0;
  };
  return std::all_of(sharding.dims.begin(), sharding.dims.end(), [&](const DimSharding& dim) {
    return std::all_of(dim.axes.begin(), dim.axes.end(), is_axis);
  });
}

/// The axes with which both lists begin; the last one may be a leading part of either's.
Axes common_prefix(const Axes& one, const Axes& other) {
  Axes shared;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (is_prefix(one[i], other[i]))
      shared.push_back(one[i]);
    else if (is_prefix(other[i], one[i]))
      shared.push_back(other[i]);
    if (one[i] != other[i]) break;
  }
  return shared;
}

/// The way that always works: gathers what is not common to both sides, then slices.
std::vector<SequenceStep> gather_then_slice(const AxesPerDim& start, const AxesPerDim& goal) {
  AxesPerDim shared;
  for (std::size_t dim = 0; dim < start.size(); ++dim)
    shared.push_back(common_prefix(start[dim], goal[dim]));
  return {{CollectiveKind::all_gather, shared, {}}, {CollectiveKind::all_slice, goal, {}}};
}

}  // namespace

std::vector<ReshardStep> plan_reshard(const Mesh& mesh, const TensorType& global,
                                      const Sharding& from, const Sharding& to) {
  const Sharding start = spmd::canonical(from), goal = spmd::canonical(to);
  SHARD_CHECK(lies_in(mesh, start) && lies_in(mesh, goal), "both shardings use axes of the mesh");
  StepWriter writer(global, start);
  if (start.unreduced != goal.unreduced) {
    SHARD_CHECK(goal.unreduced.empty(), "no collective turns an array into a sum of parts");
    writer.reduce(start.unreduced);
  }
  const AxesPerDim ins = spmd::axes_of(start), outs = spmd::axes_of(goal);
  if (ins == outs) return writer.take();
  std::vector<SequenceStep> steps = spmd::collective_sequence(global.shape, ins, outs);
  if (!is_usable(steps, global.shape, outs)) steps = gather_then_slice(ins, outs);
  for (const SequenceStep& step : steps) writer.write(step);
  return writer.take();
}

}  // namespace shard
