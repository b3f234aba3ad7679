#include "mesh/torus.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "base/check.h"
#include "mesh/mesh_sizes.h"

namespace shard {
namespace {

using Axes = std::vector<std::size_t>;

/// Calls `visit(axes)` for every choice of `count` out of `total` axes in lexicographic order,
/// until it returns true.
template <class Visit>
bool any_combination(std::size_t total, std::size_t count, const Visit& visit) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  while (true) {
    if (visit(axes)) return true;
    std::size_t last = count;
    while (last > 0 && axes[last - 1] == total - count + last - 1) --last;
    if (last == 0) return false;
    ++axes[last - 1];
    for (std::size_t k = last; k < count; ++k) axes[k] = axes[k - 1] + 1;
  }
}

std::int64_t product_over(const Shape& sizes, const Axes& axes) {
  std::int64_t product = 1;
  for (const std::size_t axis : axes) product *= sizes[axis];
  return product;
}

/// The free torus axes (0 marks a taken one) that multiply to `size`: as many as possible, so that
/// axes of size 1 are taken along.
std::optional<Axes> free_axes(const Shape& remaining, std::int64_t size) {
  for (std::size_t count = remaining.size(); count > 0; --count) {
    Axes found;
    const bool is_found = any_combination(remaining.size(), count, [&](const Axes& axes) {
      found = axes;
      return product_over(remaining, axes) == size;
    });
    if (is_found) return found;
  }
  return std::nullopt;
}

/// The sizes above 1 that whole free torus axes can carry, for the hint.
std::string whole_sizes_text(const Shape& remaining) {
  std::set<std::int64_t> sizes;
  for (std::size_t count = 1; count <= remaining.size(); ++count) {
    any_combination(remaining.size(), count, [&](const Axes& axes) {
      sizes.insert(product_over(remaining, axes));
      return false;
    });
  }
  std::string text = "1";
  for (const std::int64_t size : sizes) {
    if (size > 1) text += ", " + std::to_string(size);
  }
  return text;
}

[[noreturn]] void refuse_whole(const Shape& torus, const Shape& remaining, const Shape& sizes,
                               std::size_t axis, const MeshOrigin& origin) {
  throw Error(
      "topology-unassignable", origin.at,
      "Failed to find assignment of mesh " + axis_text(origin, axis) + " of " + tuple_text(sizes) +
          " (size " + std::to_string(sizes[axis]) + ") to whole axes of the torus " +
          torus_text(torus) + ": the axes still free carry " + whole_sizes_text(remaining),
      "choose one of these sizes, or let mesh axes share a torus axis (device_order: split)");
}

/// Whole torus axes per mesh axis; nothing when one finds none and splitting may be tried.
std::optional<std::vector<Axes>> whole_assignment(const Shape& torus, const Shape& sizes,
                                                  bool allow_split, const MeshOrigin& origin) {
  Shape remaining = torus;
  std::vector<Axes> assigned(sizes.size());
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    const std::optional<Axes> axes = free_axes(remaining, sizes[axis]);
    if (!axes) {
      if (sizes[axis] == 1) continue;
      if (allow_split) return std::nullopt;
      refuse_whole(torus, remaining, sizes, axis, origin);
    }
    assigned[axis] = *axes;
    for (const std::size_t taken : *axes) remaining[taken] = 0;
  }
  return assigned;
}

TorusPlacement place_whole(const Shape& torus, const std::vector<Axes>& assigned) {
  TorusPlacement placement{std::vector<Shape>(torus.size(), Shape(assigned.size(), 1)), {}};
  Axes order;
  for (std::size_t axis = 0; axis < assigned.size(); ++axis) {
    for (const std::size_t on : assigned[axis]) {
      placement.assignment[on][axis] = torus[on];
      order.push_back(on);
    }
  }
  placement.positions = transposed_positions(torus, order);
  return placement;
}

/// The factors one mesh axis may take: all ways to write its size over the torus axes.
class FactorChoice {
 public:
  FactorChoice(const Shape& torus, const Shape& taken) : torus_(torus), taken_(taken) {}

  std::optional<Shape> best_for(std::int64_t size) {
    best_.reset();
    factors_.assign(torus_.size(), 1);
    extend(0, size);
    return best_;
  }

 private:
  /// Whole torus axes first (by chips, then by count), then axes already begun, then the larger
  /// factors on the earlier axes.
  std::tuple<std::int64_t, std::int64_t, std::int64_t, Shape> rank_of(const Shape& factors) const {
    std::int64_t whole = 1;
    std::int64_t whole_count = 0;
    std::int64_t begun = 1;
    for (std::size_t on = 0; on < torus_.size(); ++on) {
      if (factors[on] == torus_[on]) {
        whole *= factors[on];
        whole_count += factors[on] > 1 ? 1 : 0;
      }
      if (taken_[on] > 1) begun *= factors[on];
    }
    return {whole, whole_count, begun, factors};
  }

  void extend(std::size_t on, std::int64_t left) {
    if (on == torus_.size()) {
      if (left == 1 && (!best_ || rank_of(factors_) > rank_of(*best_))) best_ = factors_;
      return;
    }
    const std::int64_t room = torus_[on] / taken_[on];
    for (std::int64_t factor = 1; factor <= room; ++factor) {
      if (room % factor != 0 || left % factor != 0) continue;
      factors_[on] = factor;
      extend(on + 1, left / factor);
    }
    factors_[on] = 1;
  }

  const Shape& torus_;
  const Shape& taken_;
  Shape factors_;
  std::optional<Shape> best_;
};

std::vector<Shape> split_assignment(const Shape& torus, const Shape& sizes) {
  std::vector<Shape> assignment(torus.size(), Shape(sizes.size(), 1));
  Shape taken(torus.size(), 1);
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    const std::optional<Shape> factors = FactorChoice(torus, taken).best_for(sizes[axis]);
    // Equal products leave every prime factor of a size somewhere on the torus.
    SHARD_CHECK(factors, "a size that divides the rest of a torus can be written over its axes");
    for (std::size_t on = 0; on < torus.size(); ++on) {
      assignment[on][axis] = (*factors)[on];
      taken[on] *= (*factors)[on];
    }
  }
  return assignment;
}

/// Cuts every torus axis into its factors and collects them by mesh axis: within a torus axis the
/// later mesh axes are the inner parts.
TorusPlacement place_split(const std::vector<Shape>& assignment, std::size_t mesh_rank) {
  Shape pieces;
  for (const Shape& row : assignment) pieces.insert(pieces.end(), row.begin(), row.end());
  Axes order;
  for (std::size_t axis = 0; axis < mesh_rank; ++axis) {
    for (std::size_t on = 0; on < assignment.size(); ++on) order.push_back(on * mesh_rank + axis);
  }
  return {assignment, transposed_positions(pieces, order)};
}

void check_sizes(const Shape& torus, const Shape& sizes, const MeshOrigin& origin) {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] < 1) {
      throw Error("bad-mesh-size", origin.at,
                  "the size of mesh " + axis_text(origin, axis) + " is " +
                      std::to_string(sizes[axis]) + ", expected 1 or more");
    }
  }
  const std::optional<std::int64_t> chips = size_product(torus);
  SHARD_CHECK(chips && *chips > 0, "a torus has at least one chip");
  if (size_product(sizes) != chips) {
    throw Error("mesh-size", origin.at,
                "the number of devices (" + std::to_string(*chips) +
                    ") must equal the product of the mesh sizes " + product_text(sizes));
  }
}

}  // namespace

TorusPlacement place_on_torus(const Shape& torus, const Shape& sizes, bool allow_split,
                              const MeshOrigin& origin) {
  check_sizes(torus, sizes, origin);
  const auto whole = whole_assignment(torus, sizes, allow_split, origin);
  if (whole) return place_whole(torus, *whole);
  return place_split(split_assignment(torus, sizes), sizes.size());
}

void check_on_torus(const Shape& torus, const Shape& sizes, bool allow_split,
                    const MeshOrigin& origin) {
  check_sizes(torus, sizes, origin);
  whole_assignment(torus, sizes, allow_split, origin);
}

std::vector<std::int64_t> transposed_positions(const Shape& shape,
                                               const std::vector<std::size_t>& order) {
  Shape strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  std::vector<std::int64_t> positions = {0};
  for (const std::size_t axis : order) {
    std::vector<std::int64_t> next;
    next.reserve(positions.size() * static_cast<std::size_t>(shape[axis]));
    for (const std::int64_t start : positions) {
      for (std::int64_t k = 0; k < shape[axis]; ++k) next.push_back(start + k * strides[axis]);
    }
    positions = std::move(next);
  }
  return positions;
}

std::string torus_text(const Shape& torus) {
  std::string text;
  for (const std::int64_t edge : torus) text += (text.empty() ? "" : "x") + std::to_string(edge);
  return text;
}

}  // namespace shard
