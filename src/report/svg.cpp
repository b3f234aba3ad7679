#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"

namespace shard {
namespace {

// All sizes in pixels. A monospace character is three fifths of the font's size wide.
constexpr double font_size = 12;
constexpr double character = 0.6 * font_size;
constexpr double row_height = 26;
constexpr double line_height = 18;
constexpr double cell_padding = 9;
constexpr double page_margin = 16;
constexpr double panel_gap = 26;
constexpr double drawing_gap = 26;
constexpr double bar_gap = 3;  ///< between cells with a line between them
constexpr double widest_band = 1200;

constexpr const char* style = R"(<style>
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.page { fill: #ffffff; }
.title { font-weight: bold; }
.edge, .note { fill: #59636e; }
.cell { stroke: #818b98; stroke-width: 1; }
.plain { fill: none; stroke: none; }
.t0 { fill: #cfe3fb; } .t1 { fill: #fde3c4; } .t2 { fill: #d3efd2; } .t3 { fill: #f9d5e0; }
.t4 { fill: #e2dcf7; } .t5 { fill: #f6efbd; } .t6 { fill: #cdeeee; } .t7 { fill: #ecdccf; }
.none { fill: #f2f4f6; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; }
  .edge, .note { fill: #9198a1; }
  .cell { stroke: #59636e; }
  .t0 { fill: #1b3a5c; } .t1 { fill: #5a3a16; } .t2 { fill: #1f4a26; } .t3 { fill: #5b2536; }
  .t4 { fill: #3a2f63; } .t5 { fill: #4d4714; } .t6 { fill: #164b4b; } .t7 { fill: #4b382a; }
  .none { fill: #21262d; }
}
</style>
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else {
      safe += is_control ? ' ' : c;
    }
  }
  return safe;
}

double text_pixels(const std::string& text) { return character * text_width(text); }

/// Writes elements and keeps track of the page's size.
class Canvas {
 public:
  void text(double x, double y, const std::string& words, const char* kind,
            const char* anchor = "start") {
    if (words.empty()) return;
    body_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                    x, y, kind, anchor, escaped(words));
    const double width = text_pixels(words);
    const bool is_middle = anchor[0] == 'm';
    reach(x + (is_middle ? width / 2 : anchor[0] == 's' ? width : 0), y);
  }

  void cell(double x, double y, double width, double height, const std::string& kind) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" "
        "class=\"{}\"/>\n",
        x, y, width, height, kind);
    reach(x + width, y + height);
  }

  std::string document() const {
    const double width = right_ + page_margin;
    const double height = bottom_ + page_margin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "width=\"{0:.0f}\" height=\"{1:.0f}\">\n",
               width, height) +
           style +
           fmt::format("<rect class=\"page\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width,
                       height) +
           body_ + "</svg>\n";
  }

 private:
  void reach(double right, double bottom) {
    right_ = std::max(right_, right);
    bottom_ = std::max(bottom_, bottom);
  }

  std::string body_;
  double right_ = 0;
  double bottom_ = 0;
};

/// Places one drawing on the canvas, from `top` down.
class DrawingPainter {
 public:
  DrawingPainter(const Drawing& drawing, Canvas& canvas) : drawing_(drawing), canvas_(canvas) {
    for (const EdgeMark& mark : drawing.columns) levels_ = std::max(levels_, mark.labels.size());
    measure_columns();
    for (const EdgeMark& mark : drawing.rows) {
      row_margin_ = std::max(row_margin_, text_pixels(row_label(mark)));
    }
    if (row_margin_ > 0) row_margin_ += cell_padding;
  }

  /// Returns where the next drawing may begin.
  double paint(double top) {
    for (const std::string& line : drawing_.head) top = line_at(top, line, "note");
    double left = page_margin;
    double below = top;
    for (const Panel& panel : drawing_.panels) {
      if (panel.cells.empty()) {
        top = below + line_height;
        for (const std::string& line : panel.title) top = line_at(top, line, "note");
        left = page_margin;
        continue;
      }
      if (left > page_margin && left + row_margin_ + grid_width() > widest_band) {
        left = page_margin;
        top = below + panel_gap / 2;
      }
      below = std::max(below, paint_panel(panel, left, top));
      left += row_margin_ + std::max(grid_width(), title_width(panel)) + panel_gap;
    }
    top = below + line_height / 2;
    for (const std::string& note : drawing_.notes) top = line_at(top, note, "note");
    return top;
  }

 private:
  static std::string row_label(const EdgeMark& mark) {
    std::string text;
    for (const std::string& label : mark.labels) text += (text.empty() ? "" : ", ") + label;
    return mark.range.empty() ? text : text + "  " + mark.range;
  }

  static double title_width(const Panel& panel) {
    double width = 0;
    for (const std::string& line : panel.title) width = std::max(width, text_pixels(line));
    return width;
  }

  double line_at(double top, const std::string& words, const char* kind) {
    canvas_.text(page_margin, top + font_size, words, kind);
    return top + line_height;
  }

  void measure_columns() {
    for (std::size_t i = 0; i < drawing_.columns.size(); ++i) {
      const EdgeMark& mark = drawing_.columns[i];
      double width = text_pixels(mark.range);
      for (const std::string& label : mark.labels) width = std::max(width, text_pixels(label));
      for (const Panel& panel : drawing_.panels) {
        for (const auto& row : panel.cells) width = std::max(width, text_pixels(row[i].text));
      }
      widths_.push_back(std::max(width + 2 * cell_padding, row_height));
    }
  }

  double gap_before(const std::vector<EdgeMark>& marks, std::size_t i) const {
    return i > 0 && marks[i].has_bar ? bar_gap : 0;
  }

  double grid_width() const {
    double width = 0;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      width += widths_[i] + gap_before(drawing_.columns, i);
    }
    return width;
  }

  /// The label of a level stands above the first of the columns that share it.
  bool repeats(std::size_t column, std::size_t level) const {
    if (column == 0 || drawing_.columns[column].is_gap) return false;
    const std::vector<std::string>& before = drawing_.columns[column - 1].labels;
    const std::vector<std::string>& here = drawing_.columns[column].labels;
    return level + 1 < here.size() && before.size() == here.size() &&
           std::equal(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                      before.begin());
  }

  double paint_column_marks(double left, double top) {
    const bool has_ranges = std::any_of(drawing_.columns.begin(), drawing_.columns.end(),
                                        [](const EdgeMark& mark) { return !mark.range.empty(); });
    double x = left;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      x += gap_before(drawing_.columns, i);
      const EdgeMark& mark = drawing_.columns[i];
      const double middle = x + widths_[i] / 2;
      double y = top + font_size;
      for (std::size_t level = 0; level < mark.labels.size(); ++level, y += line_height) {
        if (!repeats(i, level)) canvas_.text(middle, y, mark.labels[level], "edge", "middle");
      }
      canvas_.text(middle, y, mark.range, "edge", "middle");
      x += widths_[i];
    }
    return top + line_height * static_cast<double>(levels_ + (has_ranges ? 1 : 0));
  }

  double paint_panel(const Panel& panel, double left, double top) {
    const double grid_left = left + row_margin_;
    for (const std::string& line : panel.title) {
      canvas_.text(grid_left, top + font_size, line, "edge");
      top += line_height;
    }
    double y = paint_column_marks(grid_left, top);
    for (std::size_t row = 0; row < panel.cells.size(); ++row) {
      y += gap_before(drawing_.rows, row);
      canvas_.text(grid_left - cell_padding, y + row_height / 2 + font_size / 3,
                   row_label(drawing_.rows[row]), "edge", "end");
      paint_row(panel.cells[row], drawing_.rows[row].is_gap, grid_left, y);
      y += row_height;
    }
    return y;
  }

  void paint_row(const std::vector<DrawingCell>& cells, bool is_gap_row, double x, double y) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      x += gap_before(drawing_.columns, i);
      const bool is_gap = is_gap_row || drawing_.columns[i].is_gap;
      const std::string tone = cells[i].tone < 0 ? "none" : "t" + std::to_string(cells[i].tone);
      canvas_.cell(x, y, widths_[i], row_height, is_gap ? "plain" : "cell " + tone);
      canvas_.text(x + widths_[i] / 2, y + row_height / 2 + font_size / 3, cells[i].text, "id",
                   "middle");
      x += widths_[i];
    }
  }

  const Drawing& drawing_;
  Canvas& canvas_;
  std::vector<double> widths_;
  std::size_t levels_ = 0;
  double row_margin_ = 0;
};

}  // namespace

std::string svg_document(const std::vector<TitledDrawing>& drawings) {
  Canvas canvas;
  double top = page_margin;
  for (const TitledDrawing& one : drawings) {
    canvas.text(page_margin, top + font_size, one.title, "title");
    top = DrawingPainter(one.drawing, canvas).paint(top + line_height) + drawing_gap;
  }
  return canvas.document();
}

}  // namespace shard
