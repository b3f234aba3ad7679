#pragma once
// Words put together.

#include <string>
#include <vector>

namespace shard {

/// The words that are not empty, with the separator between them.
std::string joined(const std::vector<std::string>& words, const char* separator);

/// `count` times the same text; nothing for a count below 1.
std::string repeated(const std::string& text, int count);

}  // namespace shard
