#pragma once
// A place in a text that is read word by word, with messages that name line, column, what was found
// and what was expected.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard::spmd {

/// Words are letters, digits and `_`; anything else is one character. Spaces separate, lines end
/// statements. Every mismatch throws `Error` (`program-syntax`).
class TextCursor {
 public:
  TextCursor(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  bool is_at_end();  ///< skips empty lines
  bool is_at_line_end();
  void end_line();  ///< expects the line's end and skips empty lines

  /// The word or the character here, without taking it; empty at the end of a line.
  std::string_view peek();
  /// Takes it if it is that; false otherwise.
  bool take(std::string_view token);
  void expect(std::string_view token);

  std::string word();  ///< bare or quoted
  std::string quoted();
  std::int64_t integer();
  bool is_at_quote() { return peek() == "\""; }

  /// The text up to the end of a bracketed part that begins here, quotes respected.
  std::string_view bracketed();

  /// `words` are what could stand here; the nearest is in the hint.
  [[noreturn]] void fail(const std::string& expected, const std::vector<std::string>& words = {});
  [[noreturn]] void fail_at(std::size_t position, const std::string& message,
                            const std::string& hint);
  /// Of the next word.
  std::size_t position() {
    skip_spaces();
    return position_;
  }

 private:
  void skip_spaces();

  std::string file_;
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace shard::spmd
