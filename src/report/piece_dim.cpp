#include "report/piece_dim.h"

#include <algorithm>

#include "report/device_ids.h"

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

}  // namespace

std::int64_t PieceDim::start(std::int64_t part) const { return std::min(size, part * piece()); }
std::int64_t PieceDim::stop(std::int64_t part) const {
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
  const std::int64_t whole = size / piece();
  const std::int64_t rest = size % piece();
  text += " (" + std::to_string(whole) + " whole";
  if (rest > 0) text += ", 1 of " + std::to_string(rest);
  const std::int64_t empty = parts - whole - (rest > 0 ? 1 : 0);
  if (empty > 0) text += ", " + std::to_string(empty) + " empty";
  return text + ")";
}

std::int64_t PieceDim::offset(const Mesh& mesh, std::int64_t part) const {
  std::int64_t offset = 0;
  each_coordinate(axes, part, [&](const AxisRef& axis, std::int64_t coordinate) {
    offset += coordinate * stride_of(mesh, axis);
  });
  return offset;
}

std::vector<PieceDim> piece_dims(const Sharding& sharding, const Shape& shape) {
  std::vector<PieceDim> dims;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    PieceDim& dim = dims.emplace_back();
    dim.size = shape[i];
    for (const AxisRef& axis : sharding.dims[i].axes) {
      if (axis.size > 1) dim.axes.push_back(axis);
    }
    dim.parts = product(dim.axes);
  }
  return dims;
}

std::string size_text(std::int64_t size) { return size < 0 ? "?" : std::to_string(size); }

}  // namespace shard
