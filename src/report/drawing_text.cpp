#include "report/drawing_text.h"

#include <algorithm>
#include <array>
#include <span>

#include "report/table.h"
#include "report/words.h"

namespace shard {
namespace {

constexpr const char* between_panels = "   ";
constexpr std::size_t most_rows_with_rules = 8;

using Lines = std::vector<std::string>;
using Widths = std::vector<int>;

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string centered(const std::string& text, int width) {
  const int free = std::max(0, width - text_width(text));
  return blanks(free / 2) + text + blanks(free - free / 2);
}

/// The colours of xterm's palette that stand behind black text; the order is that of the tones.
std::string toned(const std::string& text, int tone) {
  constexpr std::array<int, tone_count> palette = {153, 223, 158, 217, 189, 229, 152, 183};
  return "\x1b[30;48;5;" + std::to_string(palette[static_cast<std::size_t>(tone)]) + "m" + text +
         "\x1b[0m";
}

/// A label without its axis' name: `data 1` is `1`.
std::string number_of(const std::string& label) {
  const std::size_t blank = label.rfind(' ');
  return blank == std::string::npos ? label : label.substr(blank + 1);
}

std::string name_of_axis(const std::string& label) {
  const std::size_t blank = label.rfind(' ');
  return blank == std::string::npos ? "" : label.substr(0, blank);
}

/// Columns of the same outer coordinates: their common label stands once above them.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string label;
};

/// Lays out one drawing; all panels share the widths.
class Layouter {
 public:
  Layouter(const Drawing& drawing, const TextStyle& style, const Strokes& strokes)
      : drawing_(drawing), style_(style), strokes_(strokes) {
    for (const EdgeMark& mark : drawing.columns) levels_ = std::max(levels_, mark.labels.size());
    has_ranges_ = style.has_column_ranges &&
                  std::any_of(drawing.columns.begin(), drawing.columns.end(),
                              [](const EdgeMark& mark) { return !mark.range.empty(); });
    lay_out_rows();
    lay_out_columns();
  }

  int margin() const { return margin_; }
  int grid_width() const {
    int width = 1;
    for (std::size_t i = 0; i < widths_.size(); ++i) width += widths_[i] + (bar_behind(i) ? 1 : 0);
    return width;
  }

  /// The panel as lines of equal width, its row marks in front if asked for.
  Lines block(const Panel& panel, bool has_margin, int width) const {
    Lines lines;
    const std::string margin = has_margin ? blanks(margin_) : "";
    for (const std::string& line : panel.title) lines.push_back(margin + line);
    for (std::size_t level = 0; level < levels_; ++level) {
      lines.push_back(head_line(level, has_margin));
    }
    if (has_ranges_) lines.push_back(range_line(has_margin));
    add_grid(panel, has_margin, lines);
    for (std::string& line : lines) line += blanks(width - visible_width(line));
    return lines;
  }

  int block_width(const Panel& panel, bool has_margin) const {
    int width = grid_width();
    for (const std::string& line : panel.title) width = std::max(width, text_width(line));
    return width + (has_margin ? margin_ : 0);
  }

 private:
  bool bar_behind(std::size_t column) const {
    return column + 1 == drawing_.columns.size() || drawing_.columns[column + 1].has_bar;
  }

  static int visible_width(const std::string& line) {
    int width = text_width(line);
    for (std::size_t at = line.find('\x1b'); at != std::string::npos; at = line.find('\x1b', at)) {
      const std::size_t end = line.find('m', at);
      width -= static_cast<int>(end + 1 - at);
      at = end;
    }
    return width;
  }

  std::string label_at(std::size_t column, std::size_t level) const {
    const EdgeMark& mark = drawing_.columns[column];
    if (level >= mark.labels.size()) return "";
    return style_.has_names ? mark.labels[level] : number_of(mark.labels[level]);
  }

  /// Whether two columns have the same labels down to `level`.
  bool stand_together(std::size_t a, std::size_t b, std::size_t level) const {
    const Lines& of_a = drawing_.columns[a].labels;
    const Lines& of_b = drawing_.columns[b].labels;
    const std::size_t depth = std::min({level + 1, of_a.size(), of_b.size()});
    return !drawing_.columns[a].is_gap && !drawing_.columns[b].is_gap &&
           std::equal(of_a.begin(), of_a.begin() + static_cast<std::ptrdiff_t>(depth),
                      of_b.begin());
  }

  std::vector<Span> spans(std::size_t level) const {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < drawing_.columns.size(); ++i) {
      if (!spans.empty() && stand_together(spans.back().last, i, level)) {
        spans.back().last = i;
      } else {
        spans.push_back({i, i, label_at(i, level)});
      }
    }
    return spans;
  }

  int span_width(const Span& span) const {
    int width = 0;
    for (std::size_t i = span.first; i <= span.last; ++i) {
      width += widths_[i] + (i < span.last && bar_behind(i) ? 1 : 0);
    }
    return width;
  }

  void lay_out_columns() {
    const int padding = 2 * style_.padding;
    for (std::size_t i = 0; i < drawing_.columns.size(); ++i) {
      int width = has_ranges_ ? text_width(drawing_.columns[i].range) : 0;
      for (const Panel& panel : drawing_.panels) {
        for (const auto& row : panel.cells) width = std::max(width, text_width(row[i].text));
      }
      const bool would_touch = padding == 0 && !bar_behind(i);
      widths_.push_back(width + padding + (would_touch ? 1 : 0));
    }
    for (std::size_t level = levels_; level-- > 0;) {
      for (const Span& span : spans(level)) {
        const int missing = text_width(span.label) + padding - span_width(span);
        const int columns = static_cast<int>(span.last - span.first + 1);
        for (int k = 0; k < missing; ++k) {
          ++widths_[span.first + static_cast<std::size_t>(k % columns)];
        }
      }
    }
  }

  /// Row marks stand in columns: one per label, then the range.
  void lay_out_rows() {
    for (const EdgeMark& mark : drawing_.rows) {
      row_widths_.resize(std::max(row_widths_.size(), mark.labels.size()), 0);
      for (std::size_t level = 0; level < mark.labels.size(); ++level) {
        row_widths_[level] = std::max(row_widths_[level], text_width(mark.labels[level]));
      }
      range_width_ = std::max(range_width_, text_width(mark.range));
    }
    for (const int width : row_widths_) margin_ += width + 1;
    if (range_width_ > 0) margin_ += range_width_ + 2;
    if (style_.has_names) return;
    for (const std::string& label : drawing_.columns.front().labels) {
      margin_ = std::max(margin_, text_width(name_of_axis(label)) + 1);
    }
  }

  std::string row_margin(std::size_t row) const {
    const EdgeMark& mark = drawing_.rows[row];
    std::string text;
    bool is_new = row == 0 || mark.is_gap || drawing_.rows[row - 1].is_gap;
    for (std::size_t level = 0; level < mark.labels.size(); ++level) {
      is_new = is_new || level + 1 == mark.labels.size() ||
               drawing_.rows[row - 1].labels[level] != mark.labels[level];
      const std::string shown = is_new ? mark.labels[level] : "";
      text += shown + blanks(row_widths_[level] - text_width(shown)) + " ";
    }
    if (range_width_ > 0)
      text += blanks(range_width_ + 1 - text_width(mark.range)) + mark.range + " ";
    return text + blanks(margin_ - text_width(text));
  }

  /// Above several columns a label has a line to both sides, so that one sees how far it reaches.
  std::string span_text(const Span& span) const {
    const int width = span_width(span);
    if (span.first == span.last || span.label.empty()) return centered(span.label, width);
    const int free = width - text_width(span.label) - 2;
    if (free < 2) return centered(span.label, width);
    return repeated(strokes_.horizontal, free / 2) + " " + span.label + " " +
           repeated(strokes_.horizontal, free - free / 2);
  }

  std::string head_line(std::size_t level, bool has_margin) const {
    std::string line;
    if (has_margin) {
      const Lines& labels = drawing_.columns.front().labels;
      const std::string name =
          style_.has_names || level >= labels.size() ? "" : name_of_axis(labels[level]);
      line = blanks(margin_ - text_width(name) - 1) + name + (margin_ > 0 ? " " : "");
    }
    line += " ";
    for (const Span& span : spans(level)) {
      line += span_text(span) + (bar_behind(span.last) ? " " : "");
    }
    return line;
  }

  std::string range_line(bool has_margin) const {
    std::string line = blanks((has_margin ? margin_ : 0) + 1);
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      line += centered(drawing_.columns[i].range, widths_[i]) + (bar_behind(i) ? " " : "");
    }
    return line;
  }

  std::string rule(const RuleStrokes& ends) const {
    std::string line = ends.left;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      line += repeated(strokes_.horizontal, widths_[i]);
      if (i + 1 < widths_.size() && bar_behind(i)) line += ends.joint;
    }
    return line + ends.right;
  }

  std::string cell_text(const DrawingCell& cell, int width) const {
    const std::string text = centered(cell.text, width);
    return style_.color && cell.tone >= 0 ? toned(text, cell.tone) : text;
  }

  /// Tall grids of equal rows need no lines; where lines make boxes they stay.
  bool has_rule_before(std::size_t row) const {
    const bool makes_boxes = std::any_of(drawing_.rows.begin(), drawing_.rows.end(),
                                         [](const EdgeMark& mark) { return !mark.has_bar; });
    return drawing_.rows[row].has_bar &&
           (makes_boxes || drawing_.rows.size() <= most_rows_with_rules);
  }

  void add_grid(const Panel& panel, bool has_margin, Lines& lines) const {
    const std::string margin = has_margin ? blanks(margin_) : "";
    lines.push_back(margin + rule(strokes_.top));
    for (std::size_t row = 0; row < panel.cells.size(); ++row) {
      if (row > 0 && has_rule_before(row)) lines.push_back(margin + rule(strokes_.middle));
      std::string line = (has_margin ? row_margin(row) : "") + strokes_.vertical;
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        line += cell_text(panel.cells[row][i], widths_[i]);
        if (bar_behind(i)) line += strokes_.vertical;
      }
      lines.push_back(line);
    }
    lines.push_back(margin + rule(strokes_.bottom));
  }

  const Drawing& drawing_;
  const TextStyle& style_;
  const Strokes& strokes_;
  std::size_t levels_ = 0;  ///< of column labels
  bool has_ranges_ = false;
  Widths widths_;  ///< of the columns
  Widths row_widths_;
  int range_width_ = 0;
  int margin_ = 0;
};

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// Blocks beside each other, aligned at the bottom.
std::string beside(const std::vector<Lines>& blocks) {
  std::size_t height = 0;
  for (const Lines& block : blocks) height = std::max(height, block.size());
  std::string text;
  for (std::size_t k = 0; k < height; ++k) {
    std::string line;
    for (const Lines& block : blocks) {
      const std::size_t above = height - block.size();
      if (!line.empty()) line += between_panels;
      line += k < above ? blanks(text_width(block.front())) : block[k - above];
    }
    text += without_trailing_blanks(line) + "\n";
  }
  return text;
}

/// Panels in bands of equal length, as few as the width allows.
std::string bands(const Layouter& layouter, std::span<const Panel> panels, int width) {
  int own = 0;
  for (const Panel& panel : panels) own = std::max(own, layouter.block_width(panel, false));
  const int gap = static_cast<int>(std::char_traits<char>::length(between_panels));
  const int fitting = std::max(1, (width - layouter.margin() + gap) / (own + gap));
  const int count = static_cast<int>(panels.size());
  const int band_count = (count + fitting - 1) / fitting;
  const int length = (count + band_count - 1) / band_count;
  std::string text;
  for (int from = 0; from < count; from += length) {
    std::vector<Lines> blocks;
    for (int at = from; at < std::min(count, from + length); ++at) {
      const bool is_first = at == from;
      blocks.push_back(layouter.block(panels[static_cast<std::size_t>(at)], is_first,
                                      own + (is_first ? layouter.margin() : 0)));
    }
    text += beside(blocks);
  }
  return text;
}

}  // namespace

int panel_width(const Drawing& drawing, const TextStyle& style) {
  const Layouter layouter(drawing, style, box_strokes);
  return layouter.margin() + layouter.grid_width();
}

std::string flowed(const std::vector<std::string>& claims, int width) {
  std::string text;
  int used = 0;
  for (const std::string& claim : claims) {
    const int needed = text_width(claim);
    const bool fits = used > 0 && used + 3 + needed <= width;
    if (used > 0) text += fits ? "   " : "\n";
    text += claim;
    used = fits ? used + 3 + needed : needed;
  }
  return text.empty() ? text : text + "\n";
}

std::string drawing_text(const Drawing& drawing, const TextStyle& style, int width,
                         const Strokes& strokes) {
  const Layouter layouter(drawing, style, strokes);
  std::string text = flowed(drawing.head, width);
  const std::vector<Panel>& panels = drawing.panels;
  const auto is_gap = [](const Panel& panel) { return panel.cells.empty(); };
  for (auto first = panels.begin(); first != panels.end();) {
    if (is_gap(*first)) {
      for (const std::string& line : first->title) text += line + "\n";
      ++first;
      continue;
    }
    const auto last = std::find_if(first, panels.end(), is_gap);
    text += bands(layouter, std::span(first, last), width);
    first = last;
  }
  for (const std::string& note : drawing.notes) text += note + "\n";
  return text;
}

}  // namespace shard
