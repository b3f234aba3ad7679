#pragma once
// Texts that nobody would write, made from some that somebody did, for tests of readers.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace shard {

/// A few random changes to one of `seeds`: parts cut, doubled, overwritten, replaced by parts of
/// other seeds or by one of `pieces`, deep nesting. Both lists outlive it.
class MangledTexts {
 public:
  MangledTexts(std::span<const std::string> seeds, std::span<const std::string_view> pieces)
      : seeds_(seeds), pieces_(pieces) {}

  /// The same number gives the same text.
  std::string text(std::uint64_t number) const;

 private:
  std::span<const std::string> seeds_;
  std::span<const std::string_view> pieces_;
};

/// Calls `each` with the number of every input: `usual_count` of them from 0, or as the variables
/// SHARD_FUZZ_COUNT and SHARD_FUZZ_SEED say. Returns how many there were.
std::uint64_t for_each_input(std::uint64_t usual_count,
                             const std::function<void(std::uint64_t number)>& each);

/// True when the call gives a value; an `Error` with something to say is the only other way out.
bool reads(const std::function<void()>& call);

}  // namespace shard
