#include "spmd/reshard_steps.h"

#include <algorithm>

#include "base/check.h"
#include "spmd/axes.h"

namespace shard::spmd {
namespace {

/// One collective between two layouts.
struct Leg {
  CollectiveKind kind;
  Layout before, after;
};

/// The text of a dim with its padding and its end; behind the last dim, the sums.
std::vector<std::string> parts_of(const ReshardSpace& space, const Layout& layout) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (int dim = 0; dim < space.rank(); ++dim) {
    const std::size_t end = layout.find('\0', begin) + 1;
    parts.push_back(layout.substr(begin, end - begin));
    begin = end;
  }
  parts.push_back(layout.substr(begin));
  return parts;
}

Layout joined_parts(const std::vector<std::string>& parts) {
  Layout layout;
  for (const std::string& part : parts) layout += part;
  return layout;
}

/// Slices or scatters in a row, whatever their order: one per dim that they change.
void add_per_dim(const ReshardSpace& space, CollectiveKind kind, const Layout& before,
                 const Layout& after, std::vector<Leg>& legs) {
  std::vector<std::string> parts = parts_of(space, before);
  const std::vector<std::string> goal = parts_of(space, after);
  for (std::size_t dim = 0; dim + 1 < parts.size(); ++dim) {
    if (parts[dim] == goal[dim]) continue;
    const Layout from = joined_parts(parts);
    for (const char piece : goal[dim]) {
      const std::size_t sum = parts.back().find(piece);
      if (piece != '\0' && sum != std::string::npos) parts.back().erase(sum, 1);
    }
    parts[dim] = goal[dim];
    legs.push_back({kind, from, joined_parts(parts)});
  }
}

int changed_dim(const ReshardSpace& space, const Leg& leg) {
  const std::vector<std::string> before = parts_of(space, leg.before);
  const std::vector<std::string> after = parts_of(space, leg.after);
  for (int dim = 0; dim < space.rank(); ++dim) {
    if (before[static_cast<std::size_t>(dim)] != after[static_cast<std::size_t>(dim)]) return dim;
  }
  return -1;
}

/// Joins the leg with the last one where the two are one collective.
void add_leg(const ReshardSpace& space, Leg leg, std::vector<Leg>& legs) {
  if (!legs.empty() && leg.kind == CollectiveKind::all_gather) {
    Leg& last = legs.back();
    const int dim = changed_dim(space, leg);
    if (last.kind == CollectiveKind::all_gather && changed_dim(space, last) == dim) {
      last.after = leg.after;
      return;
    }
    const auto same_dims = [&] {
      return parts_of(space, last.before)[static_cast<std::size_t>(dim)] ==
             parts_of(space, leg.after)[static_cast<std::size_t>(dim)];
    };
    if (last.kind == CollectiveKind::reduce_scatter && changed_dim(space, last) == dim &&
        same_dims()) {
      last.kind = CollectiveKind::all_reduce;
      last.after = leg.after;
      return;
    }
  }
  legs.push_back(std::move(leg));
}

std::vector<Leg> legs_of(const ReshardSpace& space, const std::vector<LayoutStep>& steps) {
  std::vector<Leg> legs;
  Layout at = space.start();
  for (std::size_t i = 0; i < steps.size();) {
    const CollectiveKind kind = steps[i].kind;
    const bool is_per_dim =
        kind == CollectiveKind::all_slice || kind == CollectiveKind::reduce_scatter;
    std::size_t end = i + 1;
    while (is_per_dim && end < steps.size() && steps[end].kind == kind) ++end;
    const Layout after = steps[end - 1].after;
    if (is_per_dim) {
      add_per_dim(space, kind, at, after, legs);
    } else if (after != at) {
      add_leg(space, {kind, at, after}, legs);
    }
    at = after;
    i = end;
  }
  return legs;
}

Axes moved_axes(const Sharding& before, const Sharding& after) {
  Axes moved;
  for (std::size_t dim = 0; dim < before.dims.size(); ++dim) {
    if (before.dims[dim] == after.dims[dim]) continue;
    for (const Sharding* side : {&before, &after}) {
      const Axes& axes = side->dims[dim].axes;
      moved.insert(moved.end(), axes.begin(), axes.end());
    }
  }
  return moved;
}

/// The unreduced axes, cut like the others, that `after` has no more.
Axes reduced_axes(const Sharding& before, const Sharding& after) {
  const Axes pieces = aligned({before.unreduced}, {after.unreduced}).front();
  Axes gone;
  for (const AxisRef& axis : pieces) {
    const auto holds = [&](const AxisRef& one) { return contains(one, axis); };
    if (std::none_of(after.unreduced.begin(), after.unreduced.end(), holds)) gone.push_back(axis);
  }
  return in_mesh_order(gone);
}

void describe(const Sharding& before, const Sharding& after, Collective& collective) {
  if (collective.kind == CollectiveKind::all_reduce) {
    collective.reduction = Reduction::sum;
    collective.axes = reduced_axes(before, after);
    return;
  }
  if (collective.kind == CollectiveKind::collective_permute) {
    collective.from = before.dims;
    collective.to = after.dims;
    collective.axes = spanned(moved_axes(before, after));
    return;
  }
  if (collective.kind == CollectiveKind::reduce_scatter) collective.reduction = Reduction::sum;
  const bool exchanges = collective.kind == CollectiveKind::all_to_all;
  for (std::size_t dim = 0; dim < before.dims.size(); ++dim) {
    const Axes &now = before.dims[dim].axes, &next = after.dims[dim].axes;
    if (now == next) continue;
    const bool grows = product(next) > product(now);
    if (exchanges && grows) {
      collective.split_dim = static_cast<int>(dim);
    } else {
      collective.dim = static_cast<int>(dim);
      collective.axes = grows ? appended(now, next) : appended(next, now);
    }
  }
}

}  // namespace

std::vector<ReshardStep> reshard_steps(const ReshardSpace& space,
                                       const std::vector<LayoutStep>& steps) {
  std::vector<ReshardStep> result;
  for (const Leg& leg : legs_of(space, steps)) {
    ReshardStep step;
    step.collective.kind = leg.kind;
    step.after = space.sharding_of(leg.after);
    step.local = space.local_shape(leg.after);
    describe(space.sharding_of(leg.before), step.after, step.collective);
    const Bytes before(space.local_bytes(leg.before));
    const std::int64_t n = product(step.collective.axes);
    const bool gathers = leg.kind == CollectiveKind::all_gather;
    step.collective.payload = gathers ? n * before : before;
    step.collective.wire = wire_bytes(leg.kind, before, n);
    result.push_back(std::move(step));
  }
  return result;
}

}  // namespace shard::spmd
