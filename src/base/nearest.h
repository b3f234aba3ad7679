#pragma once
// "Did you mean": the nearest valid word, and lists of valid words for messages.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shard {

/// Equal, upper and lower case being one.
bool same_word(std::string_view a, std::string_view b);

/// Levenshtein distance with transpositions, counted in bytes, case ignored.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, or nothing when none is near (more than a third of the longer
/// word would have to change, with at least one change allowed). Ties: the first candidate.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// A hint for an unknown word: `did you mean 'fsdp'? WHAT: data, fsdp, tensor`. The list is left
/// out when it has more than `most` words; empty when there is nothing useful to say.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string_view what = "valid", std::size_t most = 8);

}  // namespace shard
