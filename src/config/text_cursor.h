#pragma once
// Walks over the text of one scalar and knows which column it is at.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace shard {

class TextCursor {
 public:
  /// `at` is where the text starts; `text` must outlive the cursor.
  TextCursor(std::string_view text, Location at) : text_(text), at_(std::move(at)) {}

  std::size_t offset() const { return next_; }
  bool is_at_end() const { return next_ >= text_.size(); }
  /// The character here, NUL at the end.
  char peek() const { return is_at_end() ? '\0' : text_[next_]; }
  std::string_view since(std::size_t start) const { return text_.substr(start, next_ - start); }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n') ++next_;
  }
  /// Steps over `c` (and blanks before and behind it) if it is next.
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++next_;
    skip_blanks();
    return true;
  }
  /// Letters, digits and `_ . - ~`; empty when something else comes.
  std::string_view take_word() {
    const std::size_t start = next_;
    while (is_word_character(peek())) ++next_;
    return since(start);
  }
  /// Steps to the next character of `stops`, or the end.
  std::string_view take_until(std::string_view stops) {
    const std::size_t start = next_;
    next_ = std::min(text_.size(), text_.find_first_of(stops, next_));
    return since(start);
  }
  /// Back to where `offset` was asked.
  void rewind(std::size_t offset) { next_ = offset; }
  void step() { next_ = std::min(next_ + 1, text_.size()); }

  /// The place of `length` characters from `start`.
  Location place(std::size_t start, std::size_t length) const {
    return {at_.file, at_.line, at_.column + static_cast<int>(start),
            static_cast<int>(std::max<std::size_t>(1, length))};
  }
  Location here(std::size_t length = 1) const { return place(next_, length); }
  /// `found 'x'` or `the text ends`.
  std::string found() const {
    return is_at_end() ? "the text ends" : "found '" + std::string(1, peek()) + "'";
  }

 private:
  static bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
           c == '~';
  }

  std::string_view text_;
  Location at_;
  std::size_t next_ = 0;
};

}  // namespace shard
