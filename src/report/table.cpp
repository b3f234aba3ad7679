#include "report/table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace shard {
namespace {

constexpr int gap = 2;
constexpr int least_last = 12;

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::string padded(const std::string& text, int width, bool right) {
  const std::string blanks(static_cast<std::size_t>(std::max(0, width - text_width(text))), ' ');
  return right ? blanks + text : text + blanks;
}

void cut_trailing_blanks(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

int total_width(const std::vector<std::size_t>& shown, const std::vector<int>& widths) {
  int total = shown.empty() ? 0 : gap * (static_cast<int>(shown.size()) - 1);
  for (const std::size_t column : shown) total += widths[column];
  return total;
}

/// The columns that stay when the table may be `width` wide.
std::vector<std::size_t> columns_that_fit(const std::vector<Column>& columns,
                                          const std::vector<int>& widths, int width) {
  std::vector<std::size_t> shown(columns.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  while (width > 0 && total_width(shown, widths) > width) {
    const auto least = std::max_element(shown.begin(), shown.end(), [&](auto a, auto b) {
      return columns[a].priority < columns[b].priority;
    });
    if (columns[*least].priority == 0) break;
    shown.erase(least);
  }
  return shown;
}

}  // namespace

int text_width(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string cut_text(const std::string& text, int width) {
  if (text_width(text) <= width) return text;
  std::string cut;
  int taken = 0;
  for (const char c : text) {
    if (starts_code_point(c) && ++taken >= width) break;
    cut += c;
  }
  return cut + "…";
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  SHARD_CHECK(!columns_.empty(), "a table has columns");
}

void Table::add(std::vector<std::string> row) {
  SHARD_CHECK(row.size() == columns_.size(), "a table row has one cell per column");
  rows_.push_back(std::move(row));
}

std::string Table::render(int width, bool bold_title) const {
  std::vector<int> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    int widest = text_width(columns_[column].title);
    for (const auto& row : rows_) widest = std::max(widest, text_width(row[column]));
    widths.push_back(widest);
  }
  const std::vector<std::size_t> shown = columns_that_fit(columns_, widths, width);
  const std::size_t last = shown.back();
  const int excess = width > 0 ? total_width(shown, widths) - width : 0;
  if (excess > 0) widths[last] = std::max(least_last, widths[last] - excess);

  const auto line = [&](auto&& cell) {
    std::string text;
    for (const std::size_t column : shown) {
      if (column != shown.front()) text.append(gap, ' ');
      const std::string& content = cell(column);
      text += padded(column == last ? cut_text(content, widths[column]) : content, widths[column],
                     columns_[column].right);
    }
    cut_trailing_blanks(text);
    return text;
  };
  std::string title = line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  std::string text = bold_title ? "\x1b[1m" + title + "\x1b[0m\n" : title + '\n';
  for (const auto& row : rows_) {
    text += line([&](std::size_t c) -> const std::string& { return row[c]; }) + '\n';
  }
  return text;
}

}  // namespace shard
