#include "support/mangled_texts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/diagnostic.h"

namespace shard {
namespace {

class Mangler {
 public:
  Mangler(std::span<const std::string> seeds, std::span<const std::string_view> pieces,
          std::uint64_t number)
      : seeds_(seeds), pieces_(pieces), rng_(number) {}

  std::string text() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::uint64_t i = 0, count = below(5); i < count; ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : rng_() % limit; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 24) + 1);
    switch (below(7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(rng_() & 255U);
        break;
      case 3:
        text.replace(at, length, seeds_[below(seeds_.size())].substr(0, 40));
        break;
      case 4:
        text.insert(at, std::string(1 + below(150), "[({<"[below(4)]));
        break;
      default:
        text.insert(at, pieces_[below(pieces_.size())]);
    }
  }

  std::span<const std::string> seeds_;
  std::span<const std::string_view> pieces_;
  std::mt19937_64 rng_;
};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

std::string MangledTexts::text(std::uint64_t number) const {
  return Mangler(seeds_, pieces_, number).text();
}

std::uint64_t for_each_input(std::uint64_t usual_count,
                             const std::function<void(std::uint64_t number)>& each) {
  const std::uint64_t first = number_of("SHARD_FUZZ_SEED", 0);
  const std::uint64_t count = number_of("SHARD_FUZZ_COUNT", usual_count);
  for (std::uint64_t number = first; number < first + count; ++number) each(number);
  return count;
}

bool reads(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    CHECK_FALSE(error.diagnostics().empty());
    return false;
  }
}

}  // namespace shard
