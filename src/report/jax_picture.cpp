// JAX's `visualize_sharding` to the character (spec section 4; rich's table layout included).

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "report/picture.h"
#include "report/words.h"

namespace shard {
namespace {

constexpr double width_per_height = 2.5;
constexpr double base_height = 10;

/// One cell of the table: its label and the blanks around it.
struct Cell {
  std::string label;
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;

  int natural_width() const { return left + static_cast<int>(label.size()) + right; }
};

using Row = std::vector<Cell>;

/// Python's divmod by 2: rounds toward minus infinity.
std::array<int, 2> halves(int number) {
  const int half = number >= 0 ? number / 2 : -((1 - number) / 2);
  return {half, number - 2 * half};
}

/// Python's round: halves to even. Both are small and `parts` is positive.
int rounded_share(int amount, int parts) {
  return static_cast<int>(std::nearbyint(static_cast<double>(amount) / parts));
}

struct CellSize {
  int width = 0;
  int height = 1;
};

CellSize cell_size(const Shape& shape, const Sharding& sharding, const PictureOptions& options) {
  const auto fraction = [&](std::size_t dim) {
    const std::int64_t parts = part_count(sharding.dims[dim]);
    if (parts == 1) return 1.0;
    return static_cast<double>(shape[dim] / parts) / static_cast<double>(shape[dim]);
  };
  const bool is_flat = shape.size() == 1;
  const double columns = is_flat ? 1.0 : static_cast<double>(shape[1]);
  const double aspect = columns / static_cast<double>(shape[0]);
  const double height = std::trunc(base_height * options.scale);
  const double base_width = std::trunc(height * aspect);
  const double width = std::trunc(fraction(shape.size() - 1) * base_width * width_per_height);
  CellSize size;
  size.width = static_cast<int>(
      std::min<double>(std::max<double>(width, options.min_width), options.max_width));
  if (!is_flat) size.height = static_cast<int>(fraction(0) * height);
  return size;
}

Cell make_cell(const std::string& label, CellSize size, int grown) {
  const auto [left, odd_column] = halves(size.width - static_cast<int>(label.size()) - 2);
  const auto [top, odd_row] = halves(size.height - 2);
  const auto kept = [&](int blanks) { return std::max(blanks + grown, 0); };
  return {label, kept(left), kept(left + odd_column), kept(top), kept(top + odd_row)};
}

/// Cell texts, row by row: the devices of every piece.
std::vector<std::vector<std::string>> labels(const Mesh& mesh, const Sharding& sharding,
                                             const std::string& platform) {
  const bool is_flat = sharding.rank() == 1;
  const DimSharding& last = sharding.dims.back();
  const std::int64_t rows = is_flat ? 1 : part_count(sharding.dims.front());
  const std::int64_t columns = part_count(last);
  std::vector<std::vector<std::int64_t>> ids(static_cast<std::size_t>(rows * columns));
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    const std::int64_t row = is_flat ? 0 : mesh.linear_coordinate(at, sharding.dims.front().axes);
    const std::int64_t column = mesh.linear_coordinate(at, last.axes);
    ids[static_cast<std::size_t>(row * columns + column)].push_back(mesh.device_id(at));
  }
  std::vector<std::vector<std::string>> texts(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::sort(ids[i].begin(), ids[i].end());
    std::string text = platform + " ";
    for (std::size_t k = 0; k < ids[i].size(); ++k) {
      text += (k == 0 ? "" : ",") + std::to_string(ids[i][k]);
    }
    texts[i / static_cast<std::size_t>(columns)].push_back(std::move(text));
  }
  return texts;
}

/// Takes `amount` from the columns listed, left to right, each its share of what remains.
void take_evenly(std::vector<int>& widths, const std::vector<std::size_t>& columns, int amount,
                 int most) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int share = std::min(most, rounded_share(amount, static_cast<int>(columns.size() - i)));
    widths[columns[i]] -= share;
    amount -= share;
  }
}

int total(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0);
}

/// Brings the widest columns down to the next width until all fit or all are equally wide.
void collapse_widest(std::vector<int>& widths, int available) {
  while (total(widths) > std::max(available, 0)) {
    const int widest = *std::max_element(widths.begin(), widths.end());
    int next = 0;
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] < widest) next = std::max(next, widths[i]);
      if (widths[i] == widest) columns.push_back(i);
    }
    if (widest == next) return;
    const int excess = total(widths) - available;
    take_evenly(widths, columns, excess, std::min(excess, widest - next));
  }
}

void shrink_evenly(std::vector<int>& widths, int amount) {
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const int share =
        std::min(widths[i], rounded_share(amount, static_cast<int>(widths.size() - i)));
    widths[i] -= share;
    amount -= share;
  }
}

std::vector<int> column_widths(const std::vector<Row>& rows, int available) {
  std::vector<int> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool fills = row[i].left + row[i].right >= available;
      const int width = fills ? available : std::min(row[i].natural_width(), available);
      widths[i] = std::max(widths[i], width);
    }
  }
  if (total(widths) > available) collapse_widest(widths, available);
  if (total(widths) > available) shrink_evenly(widths, total(widths) - available);
  return widths;
}

/// A word cut to the area, with an ellipsis where something is missing.
std::string cut_word(const std::string& word, int area) {
  if (static_cast<int>(word.size()) <= area) return word;
  return word.substr(0, static_cast<std::size_t>(area - 1)) + "…";
}

int shown_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(0, width - shown_width(text))), ' ');
}

/// The lines of a cell in its final width. A label that does not fit is broken at its blank and
/// stands flush left; one without any room disappears.
std::vector<std::string> cell_lines(const Cell& cell, int width) {
  std::vector<std::string> lines;
  if (width < 1) return lines;
  const int area = width - cell.left - cell.right;
  const int length = static_cast<int>(cell.label.size());
  const std::string blank(static_cast<std::size_t>(width), ' ');
  lines.assign(static_cast<std::size_t>(cell.top), blank);
  const int indent = area >= length ? cell.left + (area - length) / 2 : cell.left;
  const std::string before(static_cast<std::size_t>(indent), ' ');
  if (area >= length) {
    lines.push_back(padded(before + cell.label, width));
  } else if (area >= 1) {
    const std::size_t space = cell.label.find(' ');
    lines.push_back(padded(before + cut_word(cell.label.substr(0, space), area), width));
    lines.push_back(padded(before + cut_word(cell.label.substr(space + 1), area), width));
  }
  lines.insert(lines.end(), static_cast<std::size_t>(cell.bottom), blank);
  return lines;
}

std::vector<std::vector<std::string>> row_blocks(const Row& row, const std::vector<int>& widths) {
  std::vector<std::vector<std::string>> blocks;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    blocks.push_back(cell_lines(row[i], widths[i]));
    height = std::max(height, blocks.back().size());
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].resize(height, std::string(static_cast<std::size_t>(widths[i]), ' '));
  }
  return blocks;
}

std::string horizontal(const std::vector<int>& widths, const char* left, const char* middle,
                       const char* right) {
  std::string text = left;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += (i == 0 ? "" : middle) + repeated("─", widths[i]);
  }
  return text + right + "\n";
}

std::string framed(const std::vector<Row>& rows, const std::vector<int>& widths) {
  std::string text = horizontal(widths, "┌", "┬", "┐");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto blocks = row_blocks(rows[r], widths);
    for (std::size_t line = 0; line < blocks.front().size(); ++line) {
      for (const auto& block : blocks) text += "│" + block[line];
      text += "│\n";
    }
    const bool is_last = r + 1 == rows.size();
    text += is_last ? horizontal(widths, "└", "┴", "┘") : horizontal(widths, "├", "┼", "┤");
  }
  return text;
}

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
};

/// Matplotlib's categorical map `tab20b`.
constexpr std::array<Rgb, 20> tab20b = {{
    {0x39, 0x3B, 0x79}, {0x52, 0x54, 0xA3}, {0x6B, 0x6E, 0xCF}, {0x9C, 0x9E, 0xDE},
    {0x63, 0x79, 0x39}, {0x8C, 0xA2, 0x52}, {0xB5, 0xCF, 0x6B}, {0xCE, 0xDB, 0x9C},
    {0x8C, 0x6D, 0x31}, {0xBD, 0x9E, 0x39}, {0xE7, 0xBA, 0x52}, {0xE7, 0xCB, 0x94},
    {0x84, 0x3C, 0x39}, {0xAD, 0x49, 0x4A}, {0xD6, 0x61, 0x6B}, {0xE7, 0x96, 0x9C},
    {0x7B, 0x41, 0x73}, {0xA5, 0x51, 0x94}, {0xCE, 0x6D, 0xBD}, {0xDE, 0x9E, 0xD6},
}};

/// Colours of `count` cells in row-major order: the map is walked in half-way jumps, so that
/// neighbours differ (with two cells both get the first colour, as upstream).
std::vector<Rgb> cell_colors(int count) {
  std::vector<Rgb> colors;
  int at = 0;
  for (int i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(at) / (count - 1) : 0.0;
    const int entry = std::min(static_cast<int>(share * static_cast<double>(tab20b.size())),
                               static_cast<int>(tab20b.size()) - 1);
    colors.push_back(tab20b[static_cast<std::size_t>(entry)]);
    at = (at + count / 2 + (count % 2 == 0 ? 1 : 0)) % count;
  }
  return colors;
}

std::string colored(const std::string& text, const Rgb& color) {
  const bool is_light = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue > 186;
  const auto triple = [](const Rgb& c) {
    return std::to_string(c.red) + ";" + std::to_string(c.green) + ";" + std::to_string(c.blue);
  };
  const Rgb ink = is_light ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
  return "\x1b[38;2;" + triple(ink) + ";48;2;" + triple(color) + "m" + text + "\x1b[0m";
}

/// A line of a cell as rich writes it: blanks of the padding, of the alignment and the text are
/// coloured one by one, so that the escape sequences agree too.
std::string colored_line(const std::string& line, const Cell& cell, const Rgb& color) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return line.empty() ? "" : colored(line, color);
  const std::size_t last = line.find_last_not_of(' ') + 1;
  const std::size_t left = std::min(static_cast<std::size_t>(cell.left), first);
  const std::size_t right = line.size() - static_cast<std::size_t>(cell.right);
  const bool is_whole = line.find(cell.label) != std::string::npos;
  std::vector<std::size_t> cuts = {0, left};
  if (is_whole) cuts.insert(cuts.end(), {first, last});
  cuts.insert(cuts.end(), {std::max(right, last), line.size()});
  std::string text;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    if (cuts[k] < cuts[k + 1]) {
      text += colored(line.substr(cuts[k], cuts[k + 1] - cuts[k]), color);
    }
  }
  return text;
}

std::string unframed(const std::vector<Row>& rows, const std::vector<int>& widths) {
  const std::vector<Rgb> colors = cell_colors(static_cast<int>(rows.size() * widths.size()));
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto blocks = row_blocks(rows[r], widths);
    for (std::size_t line = 0; line < blocks.front().size(); ++line) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        // What only fills up to the tallest cell of the row has no colour.
        const bool is_own = line < cell_lines(rows[r][i], widths[i]).size();
        text += is_own ? colored_line(blocks[i][line], rows[r][i], colors[r * widths.size() + i])
                       : blocks[i][line];
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace

bool has_jax_picture(const Shape& shape) {
  return (shape.size() == 1 || shape.size() == 2) && element_count(shape) > 0;
}

std::string jax_refusal(const Sharding& sharding, const Shape& shape) {
  if (shape.empty() || shape.size() > 2) return "JAX draws ranks 1 and 2 only";
  if (has_unknown_size(shape)) return "JAX draws known sizes only";
  if (!has_jax_picture(shape)) return "JAX draws no empty arrays";
  if (product(sharding.unreduced) > 1) return "JAX draws no unreduced values";
  return divides_evenly(shape, sharding) ? "" : "JAX draws equal pieces only";
}

std::string jax_picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                        const PictureOptions& options) {
  SHARD_CHECK(has_jax_picture(shape), "JAX draws arrays of rank 1 and 2 only");
  SHARD_CHECK(divides_evenly(shape, sharding), "a picture shows equal pieces");
  SHARD_CHECK(product(sharding.unreduced) == 1, "a picture shows pieces, not terms of a sum");
  const CellSize size = cell_size(shape, sharding, options);
  std::vector<Row> rows;
  for (const auto& texts : labels(mesh, sharding, options.platform)) {
    Row& row = rows.emplace_back();
    for (const std::string& text : texts) {
      row.push_back(make_cell(text, size, options.color ? 1 : 0));
    }
  }
  const int columns = static_cast<int>(rows.front().size());
  const int borders = options.color ? 0 : columns + 1;
  const std::vector<int> widths = column_widths(rows, options.max_width - borders);
  return options.color ? unframed(rows, widths) : framed(rows, widths);
}

}  // namespace shard
