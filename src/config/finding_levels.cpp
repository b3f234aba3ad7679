#include "config/finding_levels.h"

#include <array>
#include <optional>
#include <string_view>

#include "base/nearest.h"
#include "config/scalars.h"

namespace shard {
namespace {

struct LevelWord {
  std::string_view word;
  FindingLevel level;
};
constexpr std::array<LevelWord, 5> level_words = {{{"off", FindingLevel::off},
                                                   {"note", FindingLevel::note},
                                                   {"warn", FindingLevel::warn},
                                                   {"warning", FindingLevel::warn},
                                                   {"error", FindingLevel::error}}};

std::optional<FindingLevel> level_of(std::string_view word) {
  for (const LevelWord& row : level_words) {
    if (row.word == word) return row.level;
  }
  return {};
}

std::string hint_for(const std::string& word) {
  std::vector<std::string> known;
  for (const LevelWord& row : level_words) known.emplace_back(row.word);
  return did_you_mean(word, known, "levels");
}

}  // namespace

std::vector<FindingLevelConfig> read_finding_levels(const TextNode& node,
                                                    Diagnostics& diagnostics) {
  std::vector<FindingLevelConfig> levels;
  for (const TextEntry& entry : node.entries) {
    const std::optional<std::string> word =
        read_text(entry.value, "the level of '" + entry.key + "'", diagnostics);
    if (!word) continue;
    if (const auto level = level_of(*word)) {
      levels.push_back({entry.key, *level, entry.key_at});
    } else {
      diagnostics.error("unknown-word", entry.value.at,
                        "'" + *word + "' is not a level of a finding", hint_for(*word));
    }
  }
  return levels;
}

FindingLevelConfig read_finding_level(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error("bad-value", {option}, "'" + text + "' is not of the form ID=LEVEL",
                "for example axis-unused=error");
  }
  const std::string word = text.substr(equals + 1);
  const auto level = level_of(word);
  if (!level) {
    throw Error("bad-value", {option}, "'" + word + "' is not a level of a finding",
                hint_for(word));
  }
  return {text.substr(0, equals), *level, {option}};
}

}  // namespace shard
