#include "support/choices.h"

#include <algorithm>
#include <sstream>

namespace shard::test {
namespace {

using Numbers = std::vector<std::uint32_t>;

class Shrinker {
 public:
  Shrinker(Numbers start, const std::function<bool(Numbers)>& fails, int tries)
      : best_(std::move(start)), fails_(fails), tries_(tries) {}

  Numbers run() {
    for (bool is_better = true; is_better && tries_ > 0;) {
      is_better = false;
      for (std::size_t length = 16; length > 0; length /= 2) is_better |= without(length);
      is_better |= lowered();
    }
    return best_;
  }

 private:
  bool take(const Numbers& smaller) {
    if (tries_ <= 0 || smaller == best_) return false;
    --tries_;
    if (!fails_(smaller)) return false;
    best_ = smaller;
    return true;
  }

  bool without(std::size_t length) {
    bool is_better = false;
    for (std::size_t start = 0; start + length <= best_.size();) {
      Numbers smaller = best_;
      const auto at = smaller.begin() + static_cast<std::ptrdiff_t>(start);
      smaller.erase(at, at + static_cast<std::ptrdiff_t>(length));
      if (take(smaller)) {
        is_better = true;
      } else {
        start += length;
      }
    }
    return is_better;
  }

  bool lowered() {
    bool is_better = false;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      for (const std::uint32_t to : {0U, best_[i] / 2, best_[i] - (best_[i] > 0 ? 1U : 0U)}) {
        if (to >= best_[i]) continue;
        Numbers smaller = best_;
        smaller[i] = to;
        if (!take(smaller)) continue;
        is_better = true;
        break;
      }
    }
    return is_better;
  }

  Numbers best_;
  const std::function<bool(Numbers)>& fails_;
  int tries_;
};

}  // namespace

std::uint64_t Choices::below(std::uint64_t limit) {
  std::uint64_t choice = 0;
  if (is_drawn_) {
    choice = rng_() % limit;
  } else if (taken_.size() < given_.size()) {
    choice = given_[taken_.size()] % limit;
  }
  taken_.push_back(static_cast<std::uint32_t>(choice));
  return choice;
}

Numbers shrink(Numbers choices, const std::function<bool(Numbers)>& fails, int tries) {
  return Shrinker(std::move(choices), fails, tries).run();
}

std::string to_text(const Numbers& choices) {
  std::string text;
  for (const std::uint32_t one : choices) text += (text.empty() ? "" : " ") + std::to_string(one);
  return text;
}

Numbers choices_of(const std::string& text) {
  Numbers choices;
  std::istringstream words(text);
  for (std::uint32_t one = 0; words >> one;) choices.push_back(one);
  return choices;
}

}  // namespace shard::test
