#pragma once
// Tables as GitHub's Markdown has them.

#include <string>
#include <vector>

namespace shard {

/// A table; `right` says per column whether it is aligned right. Pipes and newlines in cells are
/// escaped, nothing else is: see `code_text`.
std::string markdown_table(const std::vector<std::string>& titles, const std::vector<bool>& right,
                           const std::vector<std::vector<std::string>>& rows);

/// The text between backticks, as many as it needs, so that `*` and `_` stay what they are; empty
/// for an empty text.
std::string code_text(const std::string& text);

}  // namespace shard
