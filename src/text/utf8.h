#pragma once
// The little that is needed to know about UTF-8: is it valid, how many columns does it take.

#include <cstddef>
#include <optional>
#include <string_view>

namespace shard {

/// Bytes of the UTF-8 sequence that starts at `at`, or 0 when none starts there (overlong forms,
/// surrogates and code points over U+10FFFF count as none).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Offset of the first byte that is not UTF-8 text (a NUL counts as not text), or nothing.
std::optional<std::size_t> first_non_text_byte(std::string_view text);

/// Code points of valid UTF-8: the columns a terminal needs, wide characters aside.
std::size_t code_points(std::string_view text);

/// The text without a leading byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace shard
