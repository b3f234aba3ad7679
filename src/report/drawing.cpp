#include "report/drawing.h"

#include <algorithm>

namespace shard {

int grid_tone(std::int64_t panel, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t panel_step = 5;
  constexpr std::int64_t row_step = 3;
  return static_cast<int>((panel_step * panel + row_step * row + column) % tone_count);
}

std::vector<std::int64_t> drawn_positions(std::int64_t count, const EntryLimit& limit) {
  std::vector<std::int64_t> drawn;
  const bool is_whole = count <= limit.most;
  for (std::int64_t i = 0; i < (is_whole ? count : limit.kept - 2); ++i) drawn.push_back(i);
  if (!is_whole) {
    drawn.push_back(-1);
    drawn.push_back(count - 1);
  }
  return drawn;
}

bool has_gap(const Drawing& drawing) {
  const auto is_gap = [](const EdgeMark& mark) { return mark.is_gap; };
  return std::any_of(drawing.rows.begin(), drawing.rows.end(), is_gap) ||
         std::any_of(drawing.columns.begin(), drawing.columns.end(), is_gap) ||
         std::any_of(drawing.panels.begin(), drawing.panels.end(),
                     [](const Panel& panel) { return panel.cells.empty(); });
}

}  // namespace shard
