#include "report/fitted_text.h"

#include <algorithm>
#include <array>

#include "report/drawing_text.h"

namespace shard {
namespace {

constexpr std::int64_t fewest_columns = 3;   // the first, a gap, the last
constexpr std::int64_t telling_columns = 5;  // fewer do not show how it goes on
constexpr std::size_t narrow_ids = 8;
constexpr EntryLimit panels_beside_gaps = {2, 3};
constexpr std::size_t most_rows_of_panels = 32;  // of all panels together, above each other
constexpr EntryLimit few_rows = {8, 6};

/// From roomy to tight.
constexpr std::array<TextStyle, 4> styles = {{
    {.padding = 1, .has_names = true, .has_column_ranges = true},
    {.padding = 1, .has_names = true, .has_column_ranges = false},
    {.padding = 1, .has_names = false, .has_column_ranges = false},
    {.padding = 0, .has_names = false, .has_column_ranges = false},
}};

struct Cut {
  Drawing drawing;
  std::int64_t columns = 0;
};

/// With as many columns as fit, and no fewer than three.
Cut widest_cut(const std::function<Drawing(const DrawingLimits&)>& make, DrawingLimits limits,
               const Drawing& whole, int width) {
  const auto with = [&](std::int64_t columns) {
    limits.columns = {columns, columns};
    return Cut{make(limits), columns};
  };
  const auto columns = static_cast<std::int64_t>(whole.columns.size());
  const std::int64_t likely = columns * width / panel_width(whole, styles.front());
  Cut cut = with(std::clamp(likely, fewest_columns, std::max(columns - 1, fewest_columns)));
  while (cut.columns > fewest_columns && panel_width(cut.drawing, styles.front()) > width) {
    cut = with(cut.columns - 1);
  }
  while (cut.columns + 1 < columns) {
    Cut wider = with(cut.columns + 1);
    if (panel_width(wider.drawing, styles.front()) > width) break;
    cut = std::move(wider);
  }
  return cut;
}

std::string written(Drawing drawing, TextStyle style, const Page& page) {
  style.color = page.color;
  if (has_gap(drawing)) {
    drawing.notes.push_back(std::string(page.strokes->ellipsis) +
                            " goes on in the same way; --all --width 0 leaves nothing out");
  }
  return drawing_text(drawing, style, page.width, *page.strokes);
}

}  // namespace

std::string fitted_text(const std::function<Drawing(const DrawingLimits&)>& make,
                        DrawingLimits limits, const Page& page) {
  Drawing whole = make(limits);
  const bool has_limits = limits.id_width > 0;
  if (has_limits && whole.panels.size() * whole.rows.size() > most_rows_of_panels) {
    limits.rows = few_rows;
    limits.panels = panels_beside_gaps;
    whole = make(limits);
  }
  for (const TextStyle& style : styles) {
    if (panel_width(whole, style) <= page.width) return written(whole, style, page);
  }
  limits.panels = panels_beside_gaps;
  Cut cut = widest_cut(make, limits, whole, page.width);
  if (cut.columns < telling_columns && limits.id_width > narrow_ids) {
    limits.id_width = narrow_ids;
    cut = widest_cut(make, limits, whole, page.width);
  }
  const bool fits = panel_width(cut.drawing, styles.front()) <= page.width;
  return written(cut.drawing, fits ? styles.front() : styles.back(), page);
}

}  // namespace shard
