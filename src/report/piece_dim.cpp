#include "report/piece_dim.h"

#include <algorithm>
#include <functional>
#include <map>

#include "report/device_ids.h"
#include "shard/nested_pieces.h"

namespace shard {
namespace {

/// Calls `take(axis, coordinate)` for the axes of a dim, minor first.
template <class Take>
void each_coordinate(const Axes& axes, std::int64_t part, const Take& take) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    take(*axis, part % axis->size);
    part /= axis->size;
  }
}

std::int64_t rounded_up(std::int64_t size, std::int64_t parts) {
  return (size + parts - 1) / parts;
}

/// How many parts have each size, the largest first.
using Sizes = std::map<std::int64_t, std::int64_t, std::greater<>>;

/// Every piece of `sizes` cut once more.
Sizes cut_again(const Sizes& sizes, std::int64_t parts) {
  Sizes result;
  for (const auto& [size, count] : sizes) {
    const std::int64_t step = rounded_up(size, parts);
    const std::int64_t whole = step == 0 ? 0 : size / step;
    const std::int64_t rest = step == 0 ? 0 : size % step;
    const std::int64_t empty = parts - whole - (rest > 0 ? 1 : 0);
    if (whole > 0) result[step] += whole * count;
    if (rest > 0) result[rest] += count;
    if (empty > 0) result[0] += empty * count;
  }
  return result;
}

Sizes sizes_of(const PieceDim& dim) {
  Sizes sizes = {{dim.size, 1}};
  if (dim.cut == UnevenCut::flat) return cut_again(sizes, dim.parts);
  for (const AxisRef& axis : dim.axes) sizes = cut_again(sizes, axis.size);
  return sizes;
}

}  // namespace

std::int64_t PieceDim::piece() const {
  if (cut == UnevenCut::flat) return rounded_up(size, parts);
  std::int64_t piece = size;
  for (const AxisRef& axis : axes) piece = rounded_up(piece, axis.size);
  return piece;
}

std::int64_t PieceDim::start(std::int64_t part) const {
  if (cut == UnevenCut::nested) return nested_range(size, axes, part).start;
  return std::min(size, part * piece());
}

std::int64_t PieceDim::stop(std::int64_t part) const {
  if (cut == UnevenCut::nested) return nested_range(size, axes, part).stop;
  return std::min(size, (part + 1) * piece());
}

std::vector<std::string> PieceDim::labels(const Mesh& mesh, std::int64_t part) const {
  std::vector<std::string> labels;
  each_coordinate(axes, part, [&](const AxisRef& axis, std::int64_t coordinate) {
    labels.push_back(to_string(mesh, axis) + " " + std::to_string(coordinate));
  });
  std::reverse(labels.begin(), labels.end());
  return labels;
}

std::string PieceDim::range_text(std::int64_t part) const {
  if (size < 0) return "";
  if (start(part) == stop(part)) return "empty";
  return std::to_string(start(part)) + ":" + std::to_string(stop(part));
}

std::string PieceDim::split_text() const {
  if (size < 0) return std::to_string(parts) + " x ?";
  std::string text = std::to_string(parts) + " x " + std::to_string(piece());
  if (is_even()) return text;
  std::string separator = " (";
  for (const auto& [elements, count] : sizes_of(*this)) {
    text += separator + std::to_string(count);
    separator = ", ";
    text += elements == piece() ? " whole"
            : elements == 0     ? " empty"
                                : " of " + std::to_string(elements);
  }
  return text + ")";
}

std::int64_t PieceDim::offset(const Mesh& mesh, std::int64_t part) const {
  std::int64_t offset = 0;
  each_coordinate(axes, part, [&](const AxisRef& axis, std::int64_t coordinate) {
    offset += coordinate * stride_of(mesh, axis);
  });
  return offset;
}

std::vector<PieceDim> piece_dims(const Sharding& sharding, const Shape& shape, UnevenCut cut) {
  std::vector<PieceDim> dims;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    PieceDim& dim = dims.emplace_back();
    dim.size = shape[i];
    for (const AxisRef& axis : sharding.dims[i].axes) {
      if (axis.size > 1) dim.axes.push_back(axis);
    }
    dim.parts = product(dim.axes);
    dim.cut = cut;
  }
  return dims;
}

std::string size_text(std::int64_t size) { return size < 0 ? "?" : std::to_string(size); }

}  // namespace shard
