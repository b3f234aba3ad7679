// String literals of Python: prefixes, one or three quotes, escapes.

#include <array>
#include <charconv>
#include <cstdint>

#include "text/python_parser.h"
#include "text/utf8.h"

namespace shard {
namespace {

bool is_quote(char c) { return c == '\'' || c == '"'; }

bool has_letter(std::string_view prefix, char letter) {
  const char upper = static_cast<char>(letter - 'a' + 'A');
  return prefix.find(letter) != prefix.npos || prefix.find(upper) != prefix.npos;
}

struct Escape {
  char letter;
  char value;
};
constexpr std::array<Escape, 10> simple_escapes = {{{'\\', '\\'},
                                                    {'\'', '\''},
                                                    {'"', '"'},
                                                    {'a', '\a'},
                                                    {'b', '\b'},
                                                    {'f', '\f'},
                                                    {'n', '\n'},
                                                    {'r', '\r'},
                                                    {'t', '\t'},
                                                    {'v', '\v'}}};

// Surrogates and what lies beyond the last code point are refused before.
void append_utf8(std::uint32_t point, std::string& text) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0U | (point >> 6U));
    byte(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    byte(0xE0U | (point >> 12U));
    byte(0x80U | ((point >> 6U) & 0x3FU));
    byte(0x80U | (point & 0x3FU));
  } else {
    byte(0xF0U | (point >> 18U));
    byte(0x80U | ((point >> 12U) & 0x3FU));
    byte(0x80U | ((point >> 6U) & 0x3FU));
    byte(0x80U | (point & 0x3FU));
  }
}

}  // namespace

std::optional<std::size_t> PythonParser::string_prefix() const {
  for (std::size_t length = 0; length <= 2; ++length) {
    if (is_quote(peek(length))) return length;
    if (std::string_view("rRbBuUfFtT").find(peek(length)) == std::string_view::npos) break;
  }
  return std::nullopt;
}

PythonValue PythonParser::strings(Ends ends) {
  const std::size_t start = offset_;
  PythonValue value = start_of(PythonValue::Kind::string, start, 1);
  std::size_t end = start;
  while (const auto prefix = string_prefix()) {
    const std::string_view letters = text().substr(offset_, *prefix);
    if (has_letter(letters, 'f') || has_letter(letters, 't')) return code(start, ends);
    const bool is_bytes = has_letter(letters, 'b');
    if (is_bytes) value.kind = PythonValue::Kind::bytes;
    one_string(*prefix, is_bytes ? nullptr : &value.text);
    end = offset_;
    skip_blank(!ends.line);
  }
  value.at = place(start, end - start);
  if (value.kind == PythonValue::Kind::bytes) value.text = text().substr(start, end - start);
  return value;
}

void PythonParser::one_string(std::size_t prefix, std::string* decoded) {
  const std::size_t start = offset_;
  const bool is_raw = has_letter(text().substr(offset_, prefix), 'r');
  offset_ += prefix;
  const char quote = peek();
  const std::size_t quotes = peek(1) == quote && peek(2) == quote ? 3 : 1;
  const std::string_view end = text().substr(offset_, quotes);
  offset_ += quotes;
  while (!take(end)) {
    if (at_end() || (quotes == 1 && peek() == '\n')) {
      fail("python-syntax", place(start, prefix + quotes), "this quote is never closed");
    }
    if (peek() != '\\') {
      if (decoded != nullptr) *decoded += peek();
      ++offset_;
    } else if (decoded != nullptr && !is_raw) {
      escape(*decoded);
    } else {
      const std::size_t length = offset_ + 1 < text().size() ? 2 : 1;
      if (decoded != nullptr) decoded->append(text().substr(offset_, length));
      offset_ += length;
    }
  }
}

void PythonParser::escape(std::string& decoded) {
  const char c = peek(1);
  for (const Escape& row : simple_escapes) {
    if (row.letter != c) continue;
    decoded += row.value;
    offset_ += 2;
    return;
  }
  if (c == '\n') {
    offset_ += 2;
  } else if (c == '\r' && peek(2) == '\n') {
    offset_ += 3;
  } else if (c >= '0' && c <= '7') {
    std::uint32_t point = 0;
    ++offset_;
    for (int i = 0; i < 3 && peek() >= '0' && peek() <= '7'; ++i, ++offset_) {
      point = point * 8 + static_cast<std::uint32_t>(peek() - '0');
    }
    append_utf8(point, decoded);
  } else if (c == 'x') {
    code_point(2, decoded);
  } else if (c == 'u') {
    code_point(4, decoded);
  } else if (c == 'U') {
    code_point(8, decoded);
  } else if (c == 'N') {
    fail("python-syntax", place(offset_, 2), "a character given by its name is not read here",
         "write the character itself");
  } else {  // Python keeps a backslash that means nothing
    decoded += '\\';
    ++offset_;
  }
}

void PythonParser::code_point(std::size_t digits, std::string& decoded) {
  const std::string_view hex = text().substr(std::min(offset_ + 2, text().size()), digits);
  std::uint32_t point = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
  const bool is_whole = error == std::errc() && end == hex.data() + hex.size();
  if (hex.size() != digits || !is_whole) {
    fail("python-syntax", place(offset_, 2),
         "this escape needs " + std::to_string(digits) + " hexadecimal digits");
  }
  if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    fail("python-syntax", place(offset_, digits + 2), "this escape is not a character");
  }
  append_utf8(point, decoded);
  offset_ += digits + 2;
}

}  // namespace shard
