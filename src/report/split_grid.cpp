#include "report/split_grid.h"

namespace shard {
namespace {

class GridPainter {
 public:
  GridPainter(const Mesh& mesh, const std::vector<PieceDim>& dims, const DrawingLimits& limits,
              const Strokes& strokes, const GridWords& words)
      : mesh_(mesh),
        dims_(dims),
        limits_(limits),
        strokes_(strokes),
        words_(words),
        directions_(directions_of(dims)),
        rows_(drawn(directions_.rows, limits.rows)),
        columns_(drawn(directions_.columns, limits.columns)) {}

  Drawing drawing() const {
    Drawing made;
    made.rows = marks(directions_.rows, rows_, strokes_.dots);
    made.columns = marks(directions_.columns, columns_, strokes_.ellipsis);
    std::int64_t count = 1;
    for (const std::size_t dim : directions_.panels) count *= dims_[dim].parts;
    for (const std::int64_t number : drawn_positions(count, limits_.panels)) {
      made.panels.push_back(number < 0 ? left_out(count) : panel(number));
    }
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

  Panel panel(std::int64_t number) const {
    Panel made;
    const std::vector<std::int64_t> parts = parts_of_panel(number);
    std::int64_t position = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::size_t dim = directions_.panels[k];
      position += dims_[dim].offset(mesh_, parts[k]);
      made.title.push_back(words_.title(dim, parts[k]));
    }
    for (const std::int64_t row : rows_) {
      std::vector<DrawingCell>& cells = made.cells.emplace_back();
      for (const std::int64_t column : columns_) {
        cells.push_back(cell(number, position, row, column));
      }
    }
    return made;
  }

  static Panel left_out(std::int64_t count) {
    return {{"panels left out; there are " + std::to_string(count)}, {}};
  }

  DrawingCell cell(std::int64_t panel, std::int64_t position, std::int64_t row,
                   std::int64_t column) const {
    if (row < 0) return {strokes_.dots};
    if (column < 0) return {strokes_.ellipsis};
    if (directions_.rows) position += dims_[*directions_.rows].offset(mesh_, row);
    if (directions_.columns) position += dims_[*directions_.columns].offset(mesh_, column);
    return words_.cell(position, grid_tone(panel, row, column));
  }

  const Mesh& mesh_;
  const std::vector<PieceDim>& dims_;
  const DrawingLimits& limits_;
  const Strokes& strokes_;
  const GridWords& words_;
  Directions directions_;
  std::vector<std::int64_t> rows_;  ///< parts that are drawn; -1 is a gap
  std::vector<std::int64_t> columns_;
};

}  // namespace

const char* Directions::word_of(std::size_t dim) const {
  if (rows == dim) return " down";
  return columns == dim ? " across" : " by panel";
}

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

Drawing grid_drawing(const Mesh& mesh, const std::vector<PieceDim>& dims,
                     const DrawingLimits& limits, const Strokes& strokes, const GridWords& words) {
  return GridPainter(mesh, dims, limits, strokes, words).drawing();
}

}  // namespace shard
