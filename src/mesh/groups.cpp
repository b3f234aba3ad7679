#include <algorithm>

#include "mesh/mesh.h"

namespace shard {
namespace {

/// A maximal part of an axis that lies wholly inside or wholly outside the grouped axes.
struct Digit {
  AxisRef ref;
  std::int64_t stride = 1;  ///< distance of neighbours in row-major positions
};

std::vector<AxisRef> refs_of_axis(const std::vector<AxisRef>& refs, int axis) {
  std::vector<AxisRef> own;
  for (const AxisRef& ref : refs) {
    if (ref.axis == axis) own.push_back(ref);
  }
  std::sort(own.begin(), own.end(),
            [](const AxisRef& a, const AxisRef& b) { return a.pre_size < b.pre_size; });
  return own;
}

/// The parts of `axis` between its grouped parts, major first.
std::vector<AxisRef> parts_outside(const Mesh& mesh, const std::vector<AxisRef>& refs, int axis) {
  std::vector<AxisRef> outside;
  std::int64_t reached = 1;
  for (const AxisRef& own : refs_of_axis(refs, axis)) {
    if (own.pre_size > reached) outside.push_back({axis, reached, own.pre_size / reached});
    reached = own.pre_size * own.size;
  }
  if (reached < mesh.size(axis)) outside.push_back({axis, reached, mesh.size(axis) / reached});
  return outside;
}

std::vector<Digit> digits(const Mesh& mesh, const std::vector<AxisRef>& refs) {
  std::vector<Digit> made;
  for (const AxisRef& ref : refs) {
    std::int64_t stride = mesh.size(ref.axis) / (ref.pre_size * ref.size);
    for (std::size_t minor = static_cast<std::size_t>(ref.axis) + 1; minor < mesh.axes().size();
         ++minor) {
      stride *= mesh.axes()[minor].size;
    }
    made.push_back({ref, stride});
  }
  return made;
}

/// Row-major positions of all coordinates on `refs`, the other coordinates being 0.
std::vector<std::int64_t> offsets(const Mesh& mesh, const std::vector<AxisRef>& refs) {
  std::vector<std::int64_t> all = {0};
  for (const Digit& digit : digits(mesh, refs)) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(digit.ref.size));
    for (const std::int64_t base : all) {
      for (std::int64_t k = 0; k < digit.ref.size; ++k) next.push_back(base + k * digit.stride);
    }
    all = std::move(next);
  }
  return all;
}

}  // namespace

std::vector<std::vector<std::int64_t>> replica_groups(const Mesh& mesh,
                                                      const std::vector<AxisRef>& refs) {
  std::vector<AxisRef> outside;
  for (std::size_t axis = 0; axis < mesh.axes().size(); ++axis) {
    const auto parts = parts_outside(mesh, refs, static_cast<int>(axis));
    outside.insert(outside.end(), parts.begin(), parts.end());
  }
  const std::vector<std::int64_t> members = offsets(mesh, refs);
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::int64_t first : offsets(mesh, outside)) {
    std::vector<std::int64_t>& group = groups.emplace_back();
    group.reserve(members.size());
    for (const std::int64_t member : members) group.push_back(first + member);
  }
  return groups;
}

}  // namespace shard
