#include "shard/axes.h"

#include <algorithm>

namespace shard {
namespace {

std::int64_t end_of(const AxisRef& axis) { return axis.pre_size * axis.size; }

}  // namespace

bool overlaps(const AxisRef& a, const AxisRef& b) {
  return a.axis == b.axis && a.pre_size < end_of(b) && b.pre_size < end_of(a);
}

bool contains(const AxisRef& outer, const AxisRef& inner) {
  return outer.axis == inner.axis && outer.pre_size <= inner.pre_size &&
         end_of(inner) <= end_of(outer);
}

bool is_prefix(const AxisRef& a, const AxisRef& b) {
  return a.axis == b.axis && a.pre_size == b.pre_size && b.size % a.size == 0;
}

bool joins(const AxisRef& axis, const AxisRef& next) {
  return axis.axis == next.axis && end_of(axis) == next.pre_size;
}

AxisRef leading_part(const AxisRef& axis, std::int64_t size) {
  return {axis.axis, axis.pre_size, size};
}

AxisRef trailing_part(const AxisRef& axis, std::int64_t size) {
  return {axis.axis, axis.pre_size * size, axis.size / size};
}

std::optional<AxisRef> prefix_without(const AxisRef& axis, std::span<const AxisRef> others) {
  std::int64_t stop = end_of(axis);
  for (const AxisRef& other : others) {
    if (overlaps(other, axis)) stop = std::min(stop, other.pre_size);
  }
  if (stop == end_of(axis)) return axis;
  const std::int64_t size = stop / axis.pre_size;
  if (size <= 1 || stop % axis.pre_size != 0) return std::nullopt;
  return leading_part(axis, size);
}

void append_joined(Axes& axes, const AxisRef& next) {
  if (!axes.empty() && joins(axes.back(), next)) {
    axes.back().size *= next.size;
  } else {
    axes.push_back(next);
  }
}

bool is_prefix(const Axes& shorter, const Axes& longer) {
  if (shorter.size() > longer.size()) return false;
  if (shorter.empty()) return true;
  const std::size_t last = shorter.size() - 1;
  return std::equal(shorter.begin(), shorter.begin() + static_cast<std::ptrdiff_t>(last),
                    longer.begin()) &&
         is_prefix(shorter[last], longer[last]);
}

bool is_strict_prefix(const Axes& shorter, const Axes& longer) {
  return is_prefix(shorter, longer) && shorter != longer;
}

void cut_overlapping(Axes& axes, std::span<const AxisRef> others) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::optional<AxisRef> prefix = prefix_without(axes[i], others);
    if (prefix == axes[i]) continue;
    if (prefix) axes[i] = *prefix;
    axes.resize(prefix ? i + 1 : i);
    return;
  }
}

Axes beyond(const Axes& shorter, const Axes& longer) {
  Axes rest;
  std::size_t next = shorter.size();
  if (!shorter.empty() && shorter.back() != longer[next - 1]) {
    rest.push_back(trailing_part(longer[next - 1], shorter.back().size));
  }
  for (; next < longer.size(); ++next) rest.push_back(longer[next]);
  return rest;
}

Axes dividing_prefix(const Axes& axes, std::int64_t size) {
  Axes kept;
  for (const AxisRef& axis : axes) {
    if (size % axis.size != 0) break;
    kept.push_back(axis);
    size /= axis.size;
  }
  return kept;
}

}  // namespace shard
