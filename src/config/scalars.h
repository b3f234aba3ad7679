#pragma once
// Scalars of a file to typed values. Each function raises `wrong-type` (or what it names) and gives
// nothing when the node is something else; `what` names the value in the message, quotes included.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "base/units.h"
#include "config/keys.h"
#include "text/tree.h"

namespace shard {

/// `null`, `~` or the unquoted word `None`.
bool is_none(const TextNode& node);

/// A letter or `_`, then letters, digits and `_`.
bool is_identifier(std::string_view text);

std::optional<std::string> read_text(const TextNode& node, std::string_view what,
                                     Diagnostics& diagnostics);
/// Also raises `bad-name`.
std::optional<std::string> read_identifier(const TextNode& node, std::string_view what,
                                           Diagnostics& diagnostics);
/// Raises `bad-name` when the key of an entry is no identifier.
bool check_name(const TextEntry& entry, std::string_view what, Diagnostics& diagnostics);
std::optional<bool> read_flag(const TextNode& node, std::string_view what,
                              Diagnostics& diagnostics);
std::optional<double> read_double(const TextNode& node, std::string_view what,
                                  Diagnostics& diagnostics);
/// Zero or more.
std::optional<std::int64_t> read_whole(const TextNode& node, std::string_view what,
                                       Diagnostics& diagnostics);
/// `16 GiB`. Raises `bad-value` with the key's name.
std::optional<Bytes> read_limit(const TextNode& node, std::string_view key,
                                Diagnostics& diagnostics);
/// Raises `unknown-dtype`.
std::optional<DType> read_dtype(const TextNode& node, Diagnostics& diagnostics);

/// One of the row's words. Raises `unknown-word`, or `not-yet` for one of its later words.
std::optional<std::string> read_word(const TextNode& node, const KeyRow& row,
                                     Diagnostics& diagnostics);

/// A word or a list of words; items that are neither raise `wrong-type` and are left out.
std::vector<std::string> read_names(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics);

}  // namespace shard
