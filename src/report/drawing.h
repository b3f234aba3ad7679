#pragma once
// A picture before it becomes characters or SVG: grids of cells with marks at their edges.
//
// Several grids of one drawing have the same edges and stand side by side (small multiples): the
// layers of an array of higher rank, the layers and slices of a torus.

#include <cstdint>
#include <string>
#include <vector>

namespace shard {

/// What stands at the edge beside one row or above one column.
struct EdgeMark {
  std::vector<std::string> labels{};  ///< outermost first; a mesh axis each: `data 1`
  std::string range{};                ///< the indices there: `4:8`; may be empty
  bool has_bar = true;                ///< a line between this row or column and the one before
  bool is_gap = false;                ///< stands for some that are left out
};

struct DrawingCell {
  std::string text;
  int tone = -1;  ///< number of a colour; -1: none. Never tells more than the texts do
};

/// One grid.
struct Panel {
  std::vector<std::string> title;               ///< lines
  std::vector<std::vector<DrawingCell>> cells;  ///< by row; none where panels are left out
};

struct Drawing {
  std::vector<std::string> head;  ///< claims above, as many in a line as fit
  std::vector<EdgeMark> rows;     ///< of every panel
  std::vector<EdgeMark> columns;  ///< of every panel
  std::vector<Panel> panels;
  std::vector<std::string> notes;  ///< lines below
};

/// Colours there are; tones are numbers below it.
inline constexpr int tone_count = 8;

/// The tone of cell `row`, `column` of panel `panel`: neighbours differ.
int grid_tone(std::int64_t panel, std::int64_t row, std::int64_t column);

/// How many entries of one kind are drawn. A gap counts as one; `kept` is at least 3.
struct EntryLimit {
  std::int64_t most = 16;  ///< all are drawn up to here
  std::int64_t kept = 6;   ///< entries when there are more
};

/// How much of something large is drawn.
struct DrawingLimits {
  EntryLimit rows = {16, 6};
  EntryLimit columns = {512, 512};
  EntryLimit panels = {8, 5};
  std::size_t id_width = 24;  ///< characters of the devices of a cell; 0: no limit
};

inline constexpr std::int64_t no_limit = std::int64_t{1} << 40;
inline constexpr DrawingLimits no_limits = {
    {no_limit, no_limit}, {no_limit, no_limit}, {no_limit, no_limit}, 0};

/// Positions that are drawn of `count`: all, or the first ones, -1 for the gap, and the last.
std::vector<std::int64_t> drawn_positions(std::int64_t count, const EntryLimit& limit);

/// Some rows, columns or panels are left out.
bool has_gap(const Drawing& drawing);

}  // namespace shard
