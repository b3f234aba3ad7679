#pragma once
// Arithmetic on mesh axes and sub-axes (spec section 6.1): a sub-axis `x:(m)k` covers the interval
// [m, m*k) of its axis; lists of them are major to minor.

#include <optional>
#include <span>
#include <vector>

#include "mesh/mesh.h"

namespace shard {

using Axes = std::vector<AxisRef>;

/// Same axis and intersecting intervals.
bool overlaps(const AxisRef& a, const AxisRef& b);
/// `inner`'s interval lies inside `outer`'s.
bool contains(const AxisRef& outer, const AxisRef& inner);
/// Same start, and a size that divides the other's; every axis is a prefix of itself.
bool is_prefix(const AxisRef& a, const AxisRef& b);
/// `next` continues `axis`: the two are written as one.
bool joins(const AxisRef& axis, const AxisRef& next);

/// The leading sub-axis of `axis` with `size` parts. Assumes that `size` divides.
AxisRef leading_part(const AxisRef& axis, std::int64_t size);
/// What follows that sub-axis; of size 1 when nothing does.
AxisRef trailing_part(const AxisRef& axis, std::int64_t size);

/// Largest prefix of `axis` that overlaps none of `others`; nothing when there is none.
std::optional<AxisRef> prefix_without(const AxisRef& axis, std::span<const AxisRef> others);

/// Appends, joining with the last axis where the two are consecutive.
void append_joined(Axes& axes, const AxisRef& next);

/// List prefix; the last axis of the shorter list may be a prefix of its partner.
bool is_prefix(const Axes& shorter, const Axes& longer);
/// A prefix and not equal: the longer list extends the shorter at the minor end.
bool is_strict_prefix(const Axes& shorter, const Axes& longer);

/// Cuts the list where it first overlaps `others`; an axis may be cut to its prefix.
void cut_overlapping(Axes& axes, std::span<const AxisRef> others);

/// What `longer` has beyond its strict prefix `shorter`.
Axes beyond(const Axes& shorter, const Axes& longer);

/// The leading whole axes whose product divides `size`.
Axes dividing_prefix(const Axes& axes, std::int64_t size);

}  // namespace shard
