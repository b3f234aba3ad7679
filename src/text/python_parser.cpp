#include "text/python_parser.h"

#include <cctype>

#include "text/characters.h"
#include "text/number.h"
#include "text/tree_builder.h"
#include "text/utf8.h"

namespace shard {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool continues_name(char c) { return starts_name(c) || is_digit(c); }

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

bool is_python_number(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && !is_digit(text[1]) && text[1] != '.' &&
      std::string_view("xXoObB").find(text[1]) != std::string_view::npos) {
    const std::string_view digits =
        std::string_view("xX").find(text[1]) != text.npos ? "0123456789abcdefABCDEF_" : "01234567_";
    return text.substr(2).find_first_not_of(digits) == text.npos;
  }
  return read_number(text).has_value();
}

// Counts the brackets we are inside of; one object per bracket.
class Nesting {
 public:
  explicit Nesting(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  std::size_t& depth_;
};

}  // namespace

Location PythonParser::place(std::size_t offset, std::size_t length) const {
  Location at = lines_.location_of(file_, offset, length);
  if (!start_.is_known()) return at;
  if (at.line == 1) at.column += start_.column - 1;
  at.line += start_.line - 1;
  return at;
}

void PythonParser::fail(const char* id, const Location& at, std::string message,
                        std::string hint) const {
  throw Error(id, at, std::move(message), std::move(hint));
}

void PythonParser::fail_unclosed(std::size_t open) const {
  fail("python-syntax", place(open, 1), std::string("this '") + text()[open] + "' is never closed");
}

void PythonParser::unexpected(const std::string& expected) const {
  if (at_end()) {
    const std::size_t last = text().find_last_not_of(" \t\r\n");
    const std::size_t end = last == text().npos ? 0 : last;
    fail("python-syntax", place(end, 1), "the text ends here, expected " + expected);
  }
  if (peek() == '\n') {
    fail("python-syntax", place(offset_, 1), "the line ends here, expected " + expected);
  }
  const std::string_view name = dotted_name();
  const std::size_t length = name.empty() ? utf8_length(text(), offset_) : name.size();
  const std::string found(text().substr(offset_, length));
  fail("python-syntax", place(offset_, length), "found '" + found + "', expected " + expected);
}

void PythonParser::check_bytes() const {
  const auto offset = first_non_text_byte(text());
  if (offset) fail("python-syntax", place(*offset, 1), "this byte is not UTF-8 text");
}

char PythonParser::peek(std::size_t ahead) const {
  return offset_ + ahead < text().size() ? text()[offset_ + ahead] : '\0';
}

bool PythonParser::take(std::string_view token) {
  if (!text().substr(offset_).starts_with(token)) return false;
  offset_ += token.size();
  return true;
}

void PythonParser::skip_blank(bool across_lines) {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\f' || c == '\r' || (c == '\n' && across_lines)) {
      ++offset_;
    } else if (c == '#') {
      offset_ = std::min(text().find('\n', offset_), text().size());
    } else if (c == '\\' && peek(1) == '\n') {
      offset_ += 2;
    } else if (c == '\\' && peek(1) == '\r' && peek(2) == '\n') {
      offset_ += 3;
    } else {
      return;
    }
  }
}

bool PythonParser::skip_logical_line() {
  const std::size_t start = offset_;
  try {
    while (!at_end() && peek() != '\n') {
      skip_code({.colon = false, .equals = false, .line = true});
      if (!at_end() && peek() != '\n') ++offset_;  // a comma, a `;`, a bracket too many
    }
    return true;
  } catch (const Error&) {  // what never closes ends with its line, so that the next one is read
    offset_ = std::min(text().find('\n', start), text().size());
    return false;
  }
}

std::string_view PythonParser::dotted_name() const {
  std::size_t end = offset_;
  while (end < text().size() && starts_name(text()[end])) {
    while (end < text().size() && continues_name(text()[end])) ++end;
    if (end + 1 >= text().size() || text()[end] != '.' || !starts_name(text()[end + 1])) break;
    ++end;
  }
  return text().substr(offset_, end - offset_);
}

bool PythonParser::is_expression_end(Ends ends) const {
  if (at_end()) return true;
  const char c = peek();
  if (c == ',' || c == ')' || c == ']' || c == '}') return true;
  if (ends.colon && c == ':') return true;
  if (ends.line && (c == '\n' || c == ';')) return true;
  if (!ends.equals) return false;
  if (c == '=') return peek(1) != '=';
  return peek(1) == '=' && std::string_view("+-*/%@&|^").find(c) != std::string_view::npos;
}

PythonValue PythonParser::start_of(PythonValue::Kind kind, std::size_t offset,
                                   std::size_t length) const {
  PythonValue value;
  value.kind = kind;
  value.at = place(offset, length);
  return value;
}

PythonValue PythonParser::expression(Ends ends) {
  skip_blank(!ends.line);
  const std::size_t start = offset_;
  PythonValue value = operand(ends);
  skip_blank(!ends.line);
  return is_expression_end(ends) ? value : code(start, ends);
}

PythonValue PythonParser::expression_list(Ends ends) {
  PythonValue first = expression(ends);
  if (peek() != ',') return first;
  PythonValue tuple;
  tuple.kind = PythonValue::Kind::tuple;
  tuple.at = first.at;
  tuple.items.push_back(std::move(first));
  while (take(",")) {
    skip_blank(!ends.line);
    if (is_expression_end(ends)) break;
    tuple.items.push_back(expression(ends));
  }
  return tuple;
}

PythonValue PythonParser::operand(Ends ends) {
  const std::size_t start = offset_;
  const char c = peek();
  if (string_prefix()) return strings(ends);
  if (starts_name(c)) return name_or_call(ends);
  if (is_digit(c) || c == '-' || c == '+' || (c == '.' && is_digit(peek(1)))) {
    return signed_number(ends);
  }
  if (std::string_view("@%*~.").find(c) != std::string_view::npos && c != '\0') {
    ++offset_;
    return code(start, ends);
  }
  if (c != '(' && c != '[' && c != '{') unexpected("a value");
  if (depth_ >= max_nesting) {
    fail("too-deep", place(start, 1),
         "brackets are nested more than " + std::to_string(max_nesting) + " deep");
  }
  const Nesting nesting(depth_);
  return c == '(' ? parenthesised() : c == '[' ? list() : braced();
}

PythonValue PythonParser::signed_number(Ends ends) {
  const std::size_t start = offset_;
  std::string sign;
  if (peek() == '-' || peek() == '+') {
    sign = peek() == '-' ? "-" : "";
    ++offset_;
    skip_blank(!ends.line);
    if (!is_digit(peek()) && !(peek() == '.' && is_digit(peek(1)))) return code(start, ends);
  }
  const std::size_t digits = offset_;
  const bool is_hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  while (continues_name(peek()) || peek() == '.' ||
         ((peek() == '-' || peek() == '+') && !is_hexadecimal && offset_ > digits &&
          (text()[offset_ - 1] == 'e' || text()[offset_ - 1] == 'E'))) {
    ++offset_;
  }
  const std::string_view written = text().substr(digits, offset_ - digits);
  if (written.ends_with('j') || written.ends_with('J')) return code(start, ends);
  if (!is_python_number(written)) {
    fail("python-syntax", place(digits, written.size()),
         "'" + std::string(written) + "' is not a number");
  }
  PythonValue value = start_of(PythonValue::Kind::number, start, offset_ - start);
  value.text = sign + std::string(written);
  return value;
}

PythonValue PythonParser::name_or_call(Ends ends) {
  const std::size_t start = offset_;
  const std::string_view name = dotted_name();
  PythonValue value = start_of(PythonValue::Kind::name, start, name.size());
  offset_ += name.size();
  if (name == "None") value.kind = PythonValue::Kind::none;
  if (name == "True" || name == "False") value.kind = PythonValue::Kind::boolean;
  if (value.kind != PythonValue::Kind::none) value.text = name;
  skip_blank(!ends.line);
  if (value.kind != PythonValue::Kind::name || peek() != '(') return value;
  if (depth_ >= max_nesting) {
    fail("too-deep", place(offset_, 1),
         "brackets are nested more than " + std::to_string(max_nesting) + " deep");
  }
  const Nesting nesting(depth_);
  value.kind = PythonValue::Kind::call;
  PythonValue arguments = call(offset_);
  value.items = std::move(arguments.items);
  value.entries = std::move(arguments.entries);
  return value;
}

bool PythonParser::closes(char close, std::size_t open) {
  skip_blank(true);
  if (at_end()) fail_unclosed(open);
  if (peek() != close) return false;
  ++offset_;
  return true;
}

bool PythonParser::has_next_element(char close, std::size_t open) {
  if (closes(close, open)) return false;
  if (!take(",")) unexpected(std::string("',' or '") + close + "'");
  return true;
}

PythonValue PythonParser::parenthesised() {
  const std::size_t open = offset_++;
  PythonValue tuple = start_of(PythonValue::Kind::tuple, open, 1);
  if (closes(')', open)) return tuple;
  tuple.items.push_back(expression({}));
  skip_blank(true);
  if (peek() == ')') {  // parentheses without a comma only group
    ++offset_;
    return std::move(tuple.items.front());
  }
  while (has_next_element(')', open)) {
    if (closes(')', open)) break;
    tuple.items.push_back(expression({}));
  }
  return tuple;
}

PythonValue PythonParser::list() {
  const std::size_t open = offset_++;
  PythonValue list = start_of(PythonValue::Kind::list, open, 1);
  do {
    if (closes(']', open)) break;
    list.items.push_back(expression({}));
  } while (has_next_element(']', open));
  return list;
}

PythonValue PythonParser::braced() {
  const std::size_t open = offset_++;
  PythonValue dict = start_of(PythonValue::Kind::dict, open, 1);
  do {
    if (closes('}', open)) break;
    PythonValue key = expression({.colon = true, .equals = false, .line = false});
    if (!take(":")) {
      dict.items.push_back(std::move(key));
      continue;
    }
    dict.entries.push_back({std::move(key), expression({})});
  } while (has_next_element('}', open));
  if (!dict.items.empty() && dict.entries.empty()) dict.kind = PythonValue::Kind::set;
  return dict;
}

PythonValue PythonParser::call(std::size_t open) {
  PythonValue arguments;
  ++offset_;
  do {
    if (closes(')', open)) break;
    PythonValue argument = expression({.colon = false, .equals = true, .line = false});
    if (peek() != '=' || argument.kind != PythonValue::Kind::name) {
      arguments.items.push_back(std::move(argument));
      continue;
    }
    ++offset_;
    arguments.entries.push_back({std::move(argument), expression({})});
  } while (has_next_element(')', open));
  return arguments;
}

void PythonParser::skip_code(Ends ends) {
  std::vector<std::size_t> open;
  while (!at_end() && !(open.empty() && is_expression_end(ends))) {
    const char c = peek();
    if (const auto prefix = string_prefix()) {
      one_string(*prefix, nullptr);
    } else if (starts_name(c)) {
      offset_ += dotted_name().size();
    } else if (is_digit(c)) {
      while (continues_name(peek())) ++offset_;
    } else if (c == '#' || (c == '\\' && peek(1) != '\0')) {
      const std::size_t before = offset_;
      skip_blank(false);
      if (offset_ == before) ++offset_;
    } else if (peek(1) == '=' && std::string_view("=!<>:").find(c) != std::string_view::npos) {
      offset_ += 2;
    } else if (c == '(' || c == '[' || c == '{') {
      open.push_back(offset_++);
    } else if (c == ')' || c == ']' || c == '}') {
      const char expected = closing(text()[open.back()]);
      if (c != expected) unexpected(std::string("'") + expected + "'");
      open.pop_back();
      ++offset_;
    } else {
      ++offset_;
    }
  }
  if (!open.empty()) fail_unclosed(open.back());
}

PythonValue PythonParser::code(std::size_t start, Ends ends) {
  skip_code(ends);
  std::string_view written = text().substr(start, offset_ - start);
  written = written.substr(0, written.find_last_not_of(" \t\r\n") + 1);
  PythonValue value = start_of(PythonValue::Kind::code, start, written.size());
  value.text = written;
  return value;
}

}  // namespace shard
