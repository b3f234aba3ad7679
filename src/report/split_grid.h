#pragma once
// Positions of a mesh as grids of cells: which dims go down, across and by panel, and what of a
// large grid is drawn.
//
// The last two dims that are split are the rows and the columns; a single one is columns when it is
// the last dim, rows otherwise. Further split dims make panels.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/drawing.h"
#include "report/piece_dim.h"
#include "report/strokes.h"

namespace shard {

/// Which dims are drawn in which direction; whole dims in none.
struct Directions {
  std::optional<std::size_t> rows;
  std::optional<std::size_t> columns;
  std::vector<std::size_t> panels;

  /// ` down`, ` across`, ` by panel`.
  const char* word_of(std::size_t dim) const;
};

Directions directions_of(const std::vector<PieceDim>& dims);

/// What the cells and the panels say.
struct GridWords {
  /// The cell whose first device is at this position of the mesh; `tone` is a proposal.
  std::function<DrawingCell(std::int64_t position, int tone)> cell;
  /// The line of a panel's title for one of its dims.
  std::function<std::string(std::size_t dim, std::int64_t part)> title;
};

/// Rows, columns and panels; head and notes are left to the caller.
Drawing grid_drawing(const Mesh& mesh, const std::vector<PieceDim>& dims,
                     const DrawingLimits& limits, const Strokes& strokes, const GridWords& words);

}  // namespace shard
