#pragma once
// Drawings fitted to a width: names and ranges go first, then columns, so that a picture is never
// wider than the terminal and never empty.

#include <functional>
#include <string>

#include "report/drawing.h"
#include "report/strokes.h"

namespace shard {

/// Where and how a drawing is written.
struct Page {
  int width = 80;
  bool color = false;
  const Strokes* strokes = &box_strokes;
};

/// The text of what `make` draws under `limits` or, where that is too wide, under narrower ones.
std::string fitted_text(const std::function<Drawing(const DrawingLimits&)>& make,
                        DrawingLimits limits, const Page& page);

}  // namespace shard
