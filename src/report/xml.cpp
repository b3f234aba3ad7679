#include "report/xml.h"

#include <array>
#include <utility>

#include "text/utf8.h"

namespace shard {
namespace {

constexpr std::array<std::pair<char, std::string_view>, 8> references = {{{'&', "&amp;"},
                                                                          {'<', "&lt;"},
                                                                          {'>', "&gt;"},
                                                                          {'"', "&quot;"},
                                                                          {'\'', "&apos;"},
                                                                          {'\n', "&#10;"},
                                                                          {'\r', "&#13;"},
                                                                          {'\t', "&#9;"}}};

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// U+FFFE and U+FFFF are no characters of XML.
bool is_no_character(std::string_view sequence) {
  return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
}

std::string_view reference_of(char c) {
  for (const auto& [plain, reference] : references) {
    if (plain == c) return reference;
  }
  return {};
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string written;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view sequence = text.substr(at, length == 0 ? 1 : length);
    const std::string_view reference = reference_of(text[at]);
    const bool is_control = static_cast<unsigned char>(text[at]) < 0x20;
    if (!reference.empty()) {
      written += reference;
    } else if (length == 0 || is_control || is_no_character(sequence)) {
      written += replacement;
    } else {
      written += sequence;
    }
    at += sequence.size();
  }
  return written;
}

}  // namespace shard
