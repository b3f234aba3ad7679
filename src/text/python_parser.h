#pragma once
// The parser behind `python_literal.h`: one expression at a time from one text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "text/lines.h"
#include "text/python_literal.h"

namespace shard {

class PythonParser {
 public:
  /// `text` must outlive the parser. It begins at `start` of the file; nothing: at the file's
  /// start.
  PythonParser(std::string file, std::string_view text, const Location& start = {})
      : file_(std::move(file)), lines_(text), start_(start) {}

  /// Throws `Error` `python-syntax` when the text is not UTF-8.
  void check_bytes() const;

  bool at_end() const { return offset_ >= text().size(); }
  /// The byte `ahead` of the cursor, NUL behind the end.
  char peek(std::size_t ahead = 0) const;
  std::size_t offset() const { return offset_; }
  void go_to(std::size_t offset) { offset_ = offset; }
  void advance(std::size_t bytes) { offset_ += bytes; }
  bool take(std::string_view token);

  std::string_view text() const { return lines_.text(); }
  Location place(std::size_t offset, std::size_t length) const;

  /// Blanks, joined lines and comments; newlines too when `across_lines`.
  void skip_blank(bool across_lines);
  /// Behind the end of the logical line. Where its brackets or quotes never close: behind the end
  /// of the line as printed, and false.
  bool skip_logical_line();
  /// The identifier at the cursor, with what follows its dots; empty when there is none.
  std::string_view dotted_name() const;

  /// How an expression may end, beside `,`, a closing bracket and the end of the text.
  struct Ends {
    bool colon = false;   ///< `:` of a dict, an annotation
    bool equals = false;  ///< `=` of an assignment or a keyword, `+=`
    bool line = false;    ///< the end of the line, `;`
  };
  /// The value at the cursor. Throws `Error` `python-syntax`, `too-deep`.
  PythonValue expression(Ends ends);
  /// The same, or a tuple when commas follow (`a = 'x', 'y'`).
  PythonValue expression_list(Ends ends);
  /// The value at the cursor without what operators or words may follow it.
  PythonValue operand(Ends ends);

  [[noreturn]] void unexpected(const std::string& expected) const;

 private:
  PythonValue signed_number(Ends ends);
  PythonValue name_or_call(Ends ends);
  PythonValue parenthesised();
  PythonValue list();
  PythonValue braced();
  PythonValue call(std::size_t start);
  PythonValue code(std::size_t start, Ends ends);
  PythonValue strings(Ends ends);

  /// Bytes of the letters before a quote (`rb'`); nothing when no string starts at the cursor.
  std::optional<std::size_t> string_prefix() const;
  /// Reads one string behind its prefix; its value is appended to `decoded` unless null.
  void one_string(std::size_t prefix, std::string* decoded);
  void escape(std::string& decoded);
  void code_point(std::size_t digits, std::string& decoded);
  void skip_code(Ends ends);
  bool is_expression_end(Ends ends) const;
  /// After an element: true when another follows, false after taking `close`.
  bool has_next_element(char close, std::size_t open);
  /// After an opening bracket or a comma: true, after taking it, when `close` is next.
  bool closes(char close, std::size_t open);
  PythonValue start_of(PythonValue::Kind kind, std::size_t offset, std::size_t length) const;
  [[noreturn]] void fail(const char* id, const Location& at, std::string message,
                         std::string hint = "") const;
  [[noreturn]] void fail_unclosed(std::size_t open) const;

  std::string file_;
  LineTable lines_;
  Location start_;
  std::size_t offset_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace shard
