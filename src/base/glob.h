#pragma once
// Names by pattern.

#include <string_view>

namespace shard {

/// `*` is any run of characters, `/` too; `?` is any one.
bool matches_glob(std::string_view pattern, std::string_view text);

/// Whether a text has one of the two, so that it is meant as a pattern.
bool is_glob(std::string_view text);

}  // namespace shard
