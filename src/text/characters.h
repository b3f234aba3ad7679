#pragma once
// Classes of characters that names and numbers are made of.

namespace shard {

/// An ASCII digit, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace shard
