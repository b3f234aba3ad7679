#include "spmd/text_cursor.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/nearest.h"

namespace shard::spmd {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

void TextCursor::skip_spaces() {
  while (position_ < text_.size() && text_[position_] == ' ') ++position_;
}

bool TextCursor::is_at_line_end() {
  skip_spaces();
  return position_ == text_.size() || text_[position_] == '\n';
}

bool TextCursor::is_at_end() {
  while (is_at_line_end() && position_ < text_.size()) ++position_;
  return position_ == text_.size();
}

void TextCursor::end_line() {
  if (!is_at_line_end()) fail("the end of the line");
  is_at_end();
}

std::string_view TextCursor::peek() {
  if (is_at_line_end()) return {};
  std::size_t end = position_ + 1;
  if (is_word_character(text_[position_])) {
    while (end < text_.size() && is_word_character(text_[end])) ++end;
  }
  return text_.substr(position_, end - position_);
}

bool TextCursor::take(std::string_view token) {
  if (peek() != token) return false;
  position_ += token.size();
  return true;
}

void TextCursor::expect(std::string_view token) {
  if (!take(token)) fail("'" + std::string(token) + "'");
}

std::string TextCursor::word() {
  if (is_at_quote()) return quoted();
  const std::string_view found = peek();
  if (found.empty() || !is_word_character(found.front())) fail("a word");
  position_ += found.size();
  return std::string(found);
}

std::string TextCursor::quoted() {
  expect("\"");
  std::string text;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
    if (text_[position_] == '\\' && position_ + 1 < text_.size()) {
      ++position_;
      text += text_[position_] == 'n' ? '\n' : text_[position_];
    } else {
      text += text_[position_];
    }
    ++position_;
  }
  if (position_ == text_.size() || text_[position_] == '\n') fail("a closing quote");
  ++position_;
  return text;
}

std::int64_t TextCursor::integer() {
  skip_spaces();
  std::int64_t number = 0;
  const char* first = text_.data() + position_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), number);
  if (error == std::errc::result_out_of_range) fail("a number below 2^63");
  if (error != std::errc()) fail("a whole number");
  position_ += static_cast<std::size_t>(end - first);
  return number;
}

std::string_view TextCursor::bracketed() {
  skip_spaces();
  const std::size_t start = position_;
  int depth = 0;
  bool in_quotes = false;
  for (std::size_t at = start; at < text_.size() && text_[at] != '\n'; ++at) {
    const char c = text_[at];
    if (in_quotes && c == '\\') {
      ++at;
      continue;
    }
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      position_ = at + 1;
      return text_.substr(start, position_ - start);
    }
  }
  fail("a closing bracket");
}

void TextCursor::fail(const std::string& expected, const std::vector<std::string>& words) {
  const std::string found(peek());
  const std::string shown = found.empty() ? "the end of the line" : "'" + found + "'";
  fail_at(position_, "found " + shown + ", expected " + expected, did_you_mean(found, words));
}

void TextCursor::fail_at(std::size_t position, const std::string& message,
                         const std::string& hint) {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw Error("program-syntax", {file_, line, 1 + static_cast<int>(position - line_start), 1},
              message, hint);
}

}  // namespace shard::spmd
