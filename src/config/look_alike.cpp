#include "config/look_alike.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/utf8.h"

namespace shard {
namespace {

/// `U+0430` for the UTF-8 sequence.
std::string code_point_text(std::string_view letter) {
  const auto first = static_cast<unsigned char>(letter.front());
  std::uint32_t code = letter.size() == 1 ? first : first & (0x7FU >> letter.size());
  for (const char c : letter.substr(1))
    code = (code << 6) | (static_cast<unsigned char>(c) & 0x3FU);
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (; code > 0 || text.size() < 4; code /= 16) text.insert(text.begin(), digits[code % 16]);
  return "U+" + text;
}

}  // namespace

void warn_of_letters(const TextNode& name, Diagnostics& diagnostics) {
  if (!name.is_scalar()) return;
  const std::string& text = name.scalar;
  const auto odd = std::find_if(text.begin(), text.end(),
                                [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (odd == text.end()) return;
  const auto at = static_cast<std::size_t>(odd - text.begin());
  const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
  const std::string letter = text.substr(at, length);
  diagnostics.warning("look-alike-name", name.at,
                      "the name '" + text + "' has the letter '" + letter + "' (" +
                          code_point_text(letter) + "), which is not ASCII",
                      "it never equals a name typed with the letter it looks like");
}

}  // namespace shard
