#pragma once
// Axis lists as partitioning needs them: cut into common pieces, extended, brought to one form.

#include <span>
#include <utility>
#include <vector>

#include "shard/axes.h"
#include "shard/sharding.h"

namespace shard::spmd {

/// The axes of every dim of an array, or of every factor of an op.
using AxesPerDim = std::vector<Axes>;

/// Where the interval of the (sub-)axis ends.
std::int64_t end_of(const AxisRef& axis);
/// The leading part of the given size and what follows it.
std::pair<AxisRef, AxisRef> split(const AxisRef& axis, std::int64_t size);

/// Joins consecutive sub-axes.
Axes merged(std::span<const AxisRef> axes);
/// The longest leading part of the list that overlaps none of `others`.
Axes cut(Axes axes, std::span<const AxisRef> others);
/// Axes of an all_reduce: in mesh order, joined.
Axes in_mesh_order(Axes axes);

/// Per mesh axis the smallest sub-axis that covers every part of it in the list, in mesh order:
/// what a permutation between any of them stays within. `x:(1)2` and `x:(3)2` of an x of 6 span all
/// of x.
Axes spanned(std::span<const AxisRef> axes);

/// `axes`, cut into pieces such that any two of both sides are equal or disjoint.
AxesPerDim aligned(const AxesPerDim& axes, const AxesPerDim& others);
/// What `after` has beyond `before`, of which it is an extension at the minor end.
Axes appended(const Axes& before, const Axes& after);

AxesPerDim axes_of(const Sharding& sharding);
/// Closed, not unreduced.
Sharding with_axes(const AxesPerDim& axes);
/// The same split in one form: closed, axes of size 1 dropped, consecutive sub-axes joined,
/// unreduced axes in mesh order, nothing said about replicated ones.
Sharding canonical(const Sharding& sharding);

}  // namespace shard::spmd
