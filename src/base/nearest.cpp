#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace shard {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter);
}

int edit_distance(std::string_view a, std::string_view b) {
  // Three rolling rows of the optimal string alignment table.
  std::vector<int> before(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitution = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + substitution});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    const int longer = static_cast<int>(std::max(word.size(), candidate.size()));
    const int distance = edit_distance(word, candidate);
    if (distance > std::max(1, longer / 3)) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string_view what, std::size_t most) {
  std::string text;
  if (const auto near = nearest(word, candidates)) text = "did you mean '" + *near + "'?";
  if (candidates.empty() || candidates.size() > most) return text;
  if (!text.empty()) text += ' ';
  text += std::string(what) + ": ";
  for (std::size_t i = 0; i < candidates.size(); ++i) text += (i == 0 ? "" : ", ") + candidates[i];
  return text;
}

}  // namespace shard
