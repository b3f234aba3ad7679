#include "text/yaml_source.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "text/utf8.h"

namespace shard {
namespace {

struct MessageHint {
  std::string_view message;
  std::string_view hint;
};
constexpr std::array<MessageHint, 8> message_hints = {{
    {"illegal map value",
     "a key ends with ': ' (a blank after the colon); quote a value that holds ': '"},
    {"end of map not found", "check the indentation: this line fits no map above it"},
    {"end of sequence not found", "check the indentation: this line fits no list above it"},
    {"end of map flow not found", "a '}' or a ',' is missing"},
    {"end of sequence flow not found", "a ']' or a ',' is missing"},
    {"unknown token", "quote a value that starts with this character"},
    {"illegal block entry", "a list that starts with '- ' begins on a line of its own"},
    {"illegal flow end", "nothing is open that this could close"},
}};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Opening minus closing brackets of one kind.
int balance(std::string_view text, char open, char close) {
  return static_cast<int>(std::count(text.begin(), text.end(), open) -
                          std::count(text.begin(), text.end(), close));
}

// The text from `start` to the bracket that closes the first `open`; the line's rest if none does.
std::string_view up_to_closing(std::string_view text, std::size_t start, char open, char close) {
  const std::string_view rest = text.substr(start, text.find('\n', start) - start);
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == open) ++depth;
    if (rest[i] == close && --depth == 0) return rest.substr(0, i + 1);
  }
  return rest;
}

std::string in_quotes(std::string_view text) {
  const char quote = text.find('"') == text.npos ? '"' : '\'';
  return quote + std::string(text) + quote;
}

void ask_for_quotes(std::string_view whole, const Location& at, Diagnostics& diagnostics) {
  diagnostics.error(
      "yaml-syntax", at,
      "'" + std::string(whole) + "' is not quoted, and inside { } and [ ] YAML cuts it",
      "quote it: " + in_quotes(whole));
}

}  // namespace

std::string yaml_hint(std::string_view message) {
  for (const MessageHint& row : message_hints) {
    if (row.message == message) return std::string(row.hint);
  }
  return "";
}

std::string_view YamlSource::word_at(std::size_t offset) const {
  const std::string_view rest = text().substr(std::min(offset, text().size()));
  return rest.substr(0, rest.find_first_of(" \t\r\n,:[]{}"));
}

std::size_t YamlSource::skip_properties(std::size_t offset) const {
  while (offset < text().size() && (text()[offset] == '&' || text()[offset] == '!')) {
    offset = std::min(text().size(), text().find_first_of(" \t\r\n,]}", offset));
    offset = std::min(text().size(), text().find_first_not_of(" \t\r\n", offset));
  }
  return offset;
}

std::size_t YamlSource::null_word_length(std::size_t offset) const {
  const std::string_view word = word_at(offset);
  for (const std::string_view null : {"~", "null", "Null", "NULL"}) {
    if (word == null) return word.size();
  }
  return 0;
}

std::optional<std::size_t> YamlSource::scalar_length(std::size_t offset,
                                                     std::size_t value_length) const {
  const char quote = offset < text().size() ? text()[offset] : ' ';
  if (quote == '|' || quote == '>') return 1;
  if (quote != '"' && quote != '\'') return value_length;
  for (std::size_t i = offset + 1; i < text().size(); ++i) {
    if (quote == '"' && text()[i] == '\\') {
      ++i;
    } else if (text()[i] == quote) {
      const bool is_escape = quote == '\'' && i + 1 < text().size() && text()[i + 1] == quote;
      if (!is_escape) return i + 1 - offset;
      ++i;
    }
  }
  return std::nullopt;
}

bool YamlSource::closes_bracket(const Location& at) const {
  const std::size_t start = lines_.offset_of(at.line, at.column);
  if (start >= text().size() || (text()[start] != '[' && text()[start] != '{')) return true;
  int depth = 0;
  for (std::size_t i = start; i < text().size(); ++i) {
    const char c = text()[i];
    if (c == '"') {
      i += scalar_length(i, 1).value_or(1) - 1;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return true;
    }
  }
  return false;
}

void YamlSource::check_bytes(Diagnostics& diagnostics) const {
  const auto bad = first_non_text_byte(text());
  if (!bad) return;
  diagnostics.error("yaml-syntax", place(*bad, 1), "this byte is not UTF-8 text",
                    "is it a YAML file?");
}

void YamlSource::check_tabs(Diagnostics& diagnostics) const {
  std::size_t count = 0;
  Location first;
  for (int number = 1; number <= lines_.line_count(); ++number) {
    const std::string_view line = lines_.line(number);
    const std::size_t indent = line.find_first_not_of(" \t");
    if (indent == line.npos || line[indent] == '#') continue;
    const std::size_t tab = line.substr(0, indent).find('\t');
    if (tab == line.npos) continue;
    if (count++ == 0) first = place(lines_.offset_of(number, static_cast<int>(tab) + 1), 1);
  }
  if (count == 0) return;
  const std::string more =
      count == 1 ? "" : " (and in " + std::to_string(count - 1) + " more lines)";
  diagnostics.error("yaml-tab", first, "a tab indents this line" + more,
                    "YAML is indented with spaces");
}

void YamlSource::check_commas(const std::string& value, std::size_t offset,
                              Diagnostics& diagnostics) const {
  const bool is_spec = value.starts_with("P(") || value.find("@(") != value.npos;
  if (!is_spec || balance(value, '(', ')') <= 0) return;
  const std::string_view whole = up_to_closing(text(), offset, '(', ')');
  ask_for_quotes(whole, place(offset, whole.size()), diagnostics);
}

bool YamlSource::report_bracket_in_flow(std::size_t offset, Diagnostics& diagnostics) const {
  if (offset >= text().size() || text()[offset] != '[') return false;
  std::size_t start = offset;
  while (start > 0 && is_word_character(text()[start - 1])) --start;
  if (start == offset) return false;
  const std::string_view whole = up_to_closing(text(), start, '[', ']');
  ask_for_quotes(whole, place(start, whole.size()), diagnostics);
  return true;
}

}  // namespace shard
