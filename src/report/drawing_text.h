#pragma once
// A drawing as characters: panels side by side as the width allows, marks at the edges.

#include <string>

#include "report/drawing.h"
#include "report/strokes.h"

namespace shard {

/// How the grids are laid out; from roomy to tight.
struct TextStyle {
  int padding = 1;        ///< blanks beside the text of a cell
  bool has_names = true;  ///< `model 1` above a column; else the name once and `1`
  bool has_column_ranges = true;
  bool color = false;  ///< cells get their tone as background
};

/// Columns the widest panel needs with its row marks.
int panel_width(const Drawing& drawing, const TextStyle& style);

/// Lines without trailing blanks. Panels stand beside each other up to `width` columns; a single
/// one is drawn as wide as it is.
std::string drawing_text(const Drawing& drawing, const TextStyle& style, int width,
                         const Strokes& strokes);

/// Claims in lines of up to `width` columns, three blanks between two of a line.
std::string flowed(const std::vector<std::string>& claims, int width);

}  // namespace shard
