#pragma once
// Drawings as SVG: text stays text, colours follow the reader's light or dark scheme.

#include <string>
#include <vector>

#include "report/drawing.h"

namespace shard {

struct TitledDrawing {
  std::string title;
  Drawing drawing;
};

/// One document with the drawings below each other. Every text is escaped, so names may hold any
/// character.
std::string svg_document(const std::vector<TitledDrawing>& drawings);

/// Rows, columns and panels beyond these would make a picture nobody can read.
inline constexpr DrawingLimits svg_limits = {{32, 12}, {32, 12}, {8, 4}, 24};

}  // namespace shard
