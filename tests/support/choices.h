#pragma once
// The choices of a generator of random cases, kept, so that a case can be made again and made
// smaller without knowing what it is: fewer and smaller choices give simpler cases.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace shard::test {

class Choices {
 public:
  /// Drawn anew; the same for the same seed on every machine.
  explicit Choices(std::uint64_t seed) : rng_(seed) {}
  /// These; 0 once they are used up.
  explicit Choices(std::vector<std::uint32_t> given) : given_(std::move(given)), is_drawn_(false) {}

  /// 0 .. limit - 1. A generator asks so that 0 means the simplest.
  std::uint64_t below(std::uint64_t limit);
  bool chance(std::uint64_t percent) { return below(100) >= 100 - percent; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  /// What was answered so far.
  const std::vector<std::uint32_t>& taken() const { return taken_; }

 private:
  std::mt19937_64 rng_;
  std::vector<std::uint32_t> given_;
  bool is_drawn_ = true;
  std::vector<std::uint32_t> taken_;
};

/// Smaller choices for which `fails` still holds: parts left out, numbers lowered, until nothing
/// helps or `tries` are used up.
std::vector<std::uint32_t> shrink(std::vector<std::uint32_t> choices,
                                  const std::function<bool(std::vector<std::uint32_t>)>& fails,
                                  int tries);

/// `3 0 17`, and back.
std::string to_text(const std::vector<std::uint32_t>& choices);
std::vector<std::uint32_t> choices_of(const std::string& text);

}  // namespace shard::test
