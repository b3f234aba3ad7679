#include "report/array_drawing.h"

#include <algorithm>

#include "report/device_ids.h"
#include "report/split_grid.h"
#include "shard/axis_atoms.h"

namespace shard {
namespace {

std::string axes_list(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ", ") + to_string(mesh, axis);
  return text;
}

/// The axes along which all devices hold the same.
Axes copy_axes(const Mesh& mesh, const Sharding& sharding) {
  const Axes used = used_axes(sharding);
  Axes copies;
  for (const AxisRef& atom : mesh_atoms(mesh, used)) {
    const auto covers = [&](const AxisRef& axis) { return contains(axis, atom); };
    if (std::none_of(used.begin(), used.end(), covers)) copies.push_back(atom);
  }
  return copies;
}

/// `dim 1 across: 4 x 256 over model`, `dim 0 whole: 8`.
std::string claim(const Mesh& mesh, const std::vector<PieceDim>& dims, std::size_t number) {
  const PieceDim& dim = dims[number];
  const std::string name = "dim " + std::to_string(number);
  if (dim.parts == 1) return name + " whole: " + size_text(dim.size);
  return name + directions_of(dims).word_of(number) + ": " + dim.split_text() + " over " +
         axes_list(mesh, dim.axes);
}

/// `a 1, dim 0 at 2:4`.
std::string title(const Mesh& mesh, const PieceDim& dim, std::size_t number, std::int64_t part) {
  std::string text;
  for (const std::string& label : dim.labels(mesh, part)) text += label + ", ";
  const std::string range = dim.range_text(part);
  text += "dim " + std::to_string(number);
  return range.empty() ? text : text + " at " + range;
}

std::vector<std::string> notes(const Mesh& mesh, const Sharding& sharding,
                               const std::vector<PieceDim>& dims) {
  std::vector<std::string> notes;
  const Axes copies = copy_axes(mesh, sharding);
  const auto any_dim = [&](const auto& claim) {
    return std::any_of(dims.begin(), dims.end(), claim);
  };
  if (product(copies) > 1) {
    const bool is_split = any_dim([](const PieceDim& dim) { return dim.parts > 1; });
    notes.push_back(std::to_string(product(copies)) + " copies" +
                    (is_split ? " of each piece" : "") + ", over " + axes_list(mesh, copies));
  }
  const std::int64_t terms = product(sharding.unreduced);
  if (terms > 1) {
    notes.push_back("unreduced over " + axes_list(mesh, sharding.unreduced) +
                    ": the devices of a cell hold " + std::to_string(terms) +
                    " terms of a sum, not copies");
  }
  if (any_dim([](const PieceDim& dim) { return !dim.is_even(); })) {
    const bool is_nested = dims.front().cut == UnevenCut::nested;
    notes.emplace_back(
        is_nested
            ? "not even: cut by one axis after the other, as PyTorch's DTensor does"
            : "not even: JAX refuses this for arguments and results of jit and pads it inside");
  }
  if (any_dim([](const PieceDim& dim) { return dim.size == 0; })) {
    notes.emplace_back("the array has no elements");
  }
  return notes;
}

}  // namespace

Drawing array_drawing(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                      const DrawingLimits& limits, const Strokes& strokes, UnevenCut cut) {
  const std::vector<PieceDim> dims = piece_dims(sharding, shape, cut);
  Axes together = copy_axes(mesh, sharding);
  together.insert(together.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  GridWords words;
  words.cell = [&](std::int64_t position, int tone) {
    const DeviceIds ids(mesh, position, together);
    return DrawingCell{to_string(ids, limits.id_width, strokes), tone};
  };
  words.title = [&](std::size_t dim, std::int64_t part) {
    return title(mesh, dims[dim], dim, part);
  };
  Drawing drawing = grid_drawing(mesh, dims, limits, strokes, words);
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    drawing.head.push_back(claim(mesh, dims, dim));
  }
  drawing.notes = notes(mesh, sharding, dims);
  return drawing;
}

}  // namespace shard
