#include "report/markdown.h"

#include <algorithm>

namespace shard {
namespace {

std::string cell_text(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (c == '|') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += ' ' + cell_text(cell) + " |";
  return line + '\n';
}

}  // namespace

std::string markdown_table(const std::vector<std::string>& titles, const std::vector<bool>& right,
                           const std::vector<std::vector<std::string>>& rows) {
  std::string text = line_of(titles) + "|";
  for (const bool is_right : right) text += is_right ? " ---: |" : " --- |";
  text += '\n';
  for (const std::vector<std::string>& row : rows) text += line_of(row);
  return text;
}

std::string code_text(const std::string& text) {
  if (text.empty()) return "";
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string gap = longest > 0 ? " " : "";
  return fence + gap + text + gap + fence;
}

}  // namespace shard
