#include "shard/misfit_hint.h"

#include <algorithm>
#include <set>
#include <vector>

#include "shard/legal_sizes.h"

namespace shard {
namespace {

/// Beyond this many trials larger divisors are not looked for.
constexpr std::int64_t most_trials = 1'000'000;

std::set<std::int64_t> divisors(std::int64_t size) {
  std::set<std::int64_t> all;
  for (std::int64_t d = 1; d <= most_trials && d <= size / d; ++d) {
    if (size % d != 0) continue;
    all.insert(d);
    all.insert(size / d);
  }
  return all;
}

/// The dims that the axes would divide and that nothing splits, largest first.
std::vector<std::size_t> dims_that_divide(const TensorType& type, const Sharding& sharding,
                                          std::size_t dim, std::int64_t parts) {
  std::vector<std::size_t> dims;
  for (std::size_t other = 0; other < type.shape.size(); ++other) {
    const bool is_free = other != dim && sharding.dims[other].axes.empty();
    if (is_free && type.shape[other] > 0 && type.shape[other] % parts == 0) dims.push_back(other);
  }
  std::stable_sort(dims.begin(), dims.end(),
                   [&](std::size_t a, std::size_t b) { return type.shape[a] > type.shape[b]; });
  return dims;
}

/// `; dim 0 (embed) divides: P('tensor', None), 262,144 B per device, whole 1,048,576 B`.
std::string instead_text(const Mesh& mesh, const TensorType& type, Sharding sharding,
                         std::size_t dim, std::size_t other, const Axes& axes,
                         const std::string& name) {
  sharding.dims[dim].axes.clear();
  const bool is_known = divides_evenly(type.shape, sharding);
  const Bytes whole =
      is_known ? bytes_of({type.dtype, local_shape(type.shape, sharding)}) : Bytes();
  sharding.dims[other].axes = axes;
  std::string text = "; " + name + " divides: " + spec_text(mesh, sharding);
  if (!is_known) return text;
  const Bytes bytes = bytes_of({type.dtype, local_shape(type.shape, sharding)});
  return text + ", " + with_commas(bytes) + " B per device, without " + with_commas(whole) + " B";
}

}  // namespace

std::string dividing_parts(std::int64_t size, std::int64_t parts) {
  constexpr int most_below = 3;
  const std::set<std::int64_t> all = divisors(size);
  const auto beyond = all.upper_bound(parts);
  auto first = beyond;
  for (int i = 0; i < most_below && first != all.begin(); ++i) --first;
  std::vector<std::int64_t> near(first, beyond);
  if (beyond != all.end() && *beyond <= 2 * parts) near.push_back(*beyond);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + std::to_string(near[i]);
  }
  return text;
}

std::string misfit_hint(const Mesh& mesh, const TensorType& type, const Sharding& sharding,
                        std::size_t dim, const Axes& axes, std::span<const std::string> names) {
  const std::int64_t size = type.shape[dim];
  const std::int64_t parts = product(axes);
  std::string text = "nearest legal sizes: " + nearest_sizes(size, parts) + " (padding " +
                     std::to_string(parts - size % parts) + ')';
  const std::string legal = dividing_parts(size, parts);
  if (legal != "1") text += "; " + std::to_string(size) + " divides into " + legal;
  const std::vector<std::size_t> others = dims_that_divide(type, sharding, dim, parts);
  if (others.empty() && type.rank() > 1) {
    text += "; no other dim is a free multiple of " + std::to_string(parts);
  }
  for (const std::size_t other : others) {
    text += other == others.front()
                ? instead_text(mesh, type, sharding, dim, other, axes, names[other])
                : "; " + names[other] + " too";
  }
  return text;
}

}  // namespace shard
