#include "report/array_drawing.h"

#include <algorithm>
#include <optional>

#include "report/device_ids.h"
#include "report/piece_dim.h"
#include "shard/axis_atoms.h"

namespace shard {
namespace {

std::string axes_list(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ", ") + to_string(mesh, axis);
  return text;
}

/// Which dims are drawn in which direction.
struct Directions {
  std::optional<std::size_t> rows;
  std::optional<std::size_t> columns;
  std::vector<std::size_t> panels;
};

Directions directions_of(const std::vector<PieceDim>& dims) {
  std::vector<std::size_t> split;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].parts > 1) split.push_back(dim);
  }
  Directions directions;
  const bool has_columns = split.size() > 1 || (!split.empty() && split[0] + 1 == dims.size());
  if (has_columns) {
    directions.columns = split.back();
    split.pop_back();
  }
  if (!split.empty()) {
    directions.rows = split.back();
    split.pop_back();
  }
  directions.panels = std::move(split);
  return directions;
}

class ArrayPainter {
 public:
  ArrayPainter(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
               const DrawingLimits& limits, const Strokes& strokes)
      : mesh_(mesh),
        sharding_(sharding),
        limits_(limits),
        strokes_(strokes),
        dims_(piece_dims(sharding, shape)),
        directions_(directions_of(dims_)) {
    const Axes used = used_axes(sharding);
    for (const AxisRef& atom : mesh_atoms(mesh, used)) {
      const auto covers = [&](const AxisRef& axis) { return contains(axis, atom); };
      if (std::none_of(used.begin(), used.end(), covers)) copies_.push_back(atom);
    }
    together_ = copies_;
    together_.insert(together_.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  }

  Drawing drawing() const {
    Drawing made;
    const std::vector<std::int64_t> rows = drawn(directions_.rows, limits_.rows);
    const std::vector<std::int64_t> columns = drawn(directions_.columns, limits_.columns);
    made.rows = marks(directions_.rows, rows, strokes_.dots);
    made.columns = marks(directions_.columns, columns, strokes_.ellipsis);
    std::int64_t panel_count = 1;
    for (const std::size_t dim : directions_.panels) panel_count *= dims_[dim].parts;
    for (const std::int64_t number : drawn_positions(panel_count, limits_.panels)) {
      made.panels.push_back(number < 0 ? left_out(panel_count) : panel(number, rows, columns));
    }
    for (std::size_t dim = 0; dim < dims_.size(); ++dim) made.head.push_back(claim(dim));
    add_notes(made);
    return made;
  }

 private:
  std::vector<std::int64_t> drawn(const std::optional<std::size_t>& dim,
                                  const EntryLimit& limit) const {
    return drawn_positions(dim ? dims_[*dim].parts : 1, limit);
  }

  std::vector<EdgeMark> marks(const std::optional<std::size_t>& dim,
                              const std::vector<std::int64_t>& parts, const char* gap) const {
    if (!dim) return {EdgeMark{}};
    std::vector<EdgeMark> marks;
    for (const std::int64_t part : parts) {
      EdgeMark& mark = marks.emplace_back();
      mark.is_gap = part < 0;
      if (mark.is_gap) {
        mark.labels.assign(dims_[*dim].axes.size(), gap);
        continue;
      }
      mark.labels = dims_[*dim].labels(mesh_, part);
      mark.range = dims_[*dim].range_text(part);
    }
    return marks;
  }

  /// The parts of the dims that make panels.
  std::vector<std::int64_t> parts_of_panel(std::int64_t number) const {
    std::vector<std::int64_t> parts(directions_.panels.size());
    for (std::size_t k = parts.size(); k-- > 0;) {
      const std::int64_t count = dims_[directions_.panels[k]].parts;
      parts[k] = number % count;
      number /= count;
    }
    return parts;
  }

  Panel panel(std::int64_t number, const std::vector<std::int64_t>& rows,
              const std::vector<std::int64_t>& columns) const {
    Panel made;
    const std::vector<std::int64_t> parts = parts_of_panel(number);
    std::int64_t base = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const PieceDim& dim = dims_[directions_.panels[k]];
      base += dim.offset(mesh_, parts[k]);
      made.title.push_back(title_line(directions_.panels[k], parts[k]));
    }
    for (const std::int64_t row : rows) {
      std::vector<DrawingCell>& cells = made.cells.emplace_back();
      for (const std::int64_t column : columns) cells.push_back(cell(number, base, row, column));
    }
    return made;
  }

  /// `a 1, dim 0 at 2:4`.
  std::string title_line(std::size_t dim, std::int64_t part) const {
    std::string text;
    for (const std::string& label : dims_[dim].labels(mesh_, part)) text += label + ", ";
    const std::string range = dims_[dim].range_text(part);
    text += "dim " + std::to_string(dim);
    return range.empty() ? text : text + " at " + range;
  }

  static Panel left_out(std::int64_t count) {
    return {{"panels left out; there are " + std::to_string(count)}, {}};
  }

  DrawingCell cell(std::int64_t panel, std::int64_t base, std::int64_t row,
                   std::int64_t column) const {
    if (row < 0) return {strokes_.dots};
    if (column < 0) return {strokes_.ellipsis};
    if (directions_.rows) base += dims_[*directions_.rows].offset(mesh_, row);
    if (directions_.columns) base += dims_[*directions_.columns].offset(mesh_, column);
    return {to_string(DeviceIds(mesh_, base, together_), limits_.id_width, strokes_),
            grid_tone(panel, row, column)};
  }

  /// `dim 1 across: 4 x 256 over model`.
  std::string claim(std::size_t dim) const {
    const char* direction = " by panel";
    if (directions_.rows == dim) direction = " down";
    if (directions_.columns == dim) direction = " across";
    const std::string name = "dim " + std::to_string(dim);
    if (dims_[dim].parts == 1) return name + " whole: " + size_text(dims_[dim].size);
    return name + direction + ": " + dims_[dim].split_text() + " over " +
           axes_list(mesh_, dims_[dim].axes);
  }

  void add_notes(Drawing& made) const {
    const std::int64_t copies = product(copies_);
    if (copies > 1) {
      const bool is_whole = !directions_.rows && !directions_.columns;
      made.notes.push_back(std::to_string(copies) +
                           (is_whole ? " copies" : " copies of each piece") + ", over " +
                           axes_list(mesh_, copies_));
    }
    const std::int64_t terms = product(sharding_.unreduced);
    if (terms > 1) {
      made.notes.push_back("unreduced over " + axes_list(mesh_, sharding_.unreduced) +
                           ": the devices of a cell hold " + std::to_string(terms) +
                           " terms of a sum, not copies");
    }
    const bool is_even =
        std::all_of(dims_.begin(), dims_.end(), [](const PieceDim& dim) { return dim.is_even(); });
    if (!is_even) {
      made.notes.push_back(
          "not even: JAX refuses this for arguments and results of jit and pads it inside");
    }
    const bool is_empty =
        std::any_of(dims_.begin(), dims_.end(), [](const PieceDim& dim) { return dim.size == 0; });
    if (is_empty) made.notes.push_back("the array has no elements");
  }

  const Mesh& mesh_;
  const Sharding& sharding_;
  const DrawingLimits& limits_;
  const Strokes& strokes_;
  std::vector<PieceDim> dims_;
  Directions directions_;
  Axes copies_;    ///< axes along which all devices hold the same
  Axes together_;  ///< axes along which the devices stand in one cell
};

}  // namespace

Drawing array_drawing(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                      const DrawingLimits& limits, const Strokes& strokes) {
  return ArrayPainter(mesh, sharding, shape, limits, strokes).drawing();
}

}  // namespace shard
