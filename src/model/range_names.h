#pragma once
// Names of things that stand for several: `Block_{3..996}/W2` is Block_3/W2, Block_4/W2 and so on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shard {

/// A number in a name is a range of one.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t count() const { return last - first + 1; }
  friend auto operator<=>(const NumberRange&, const NumberRange&) = default;
};

/// Where a number or a range stands in a name.
struct NumberText {
  NumberRange range;
  std::size_t length = 0;
};

/// The number or the range that begins at `at`. Digits with leading zeros, or too many of them, are
/// no number.
std::optional<NumberText> number_at(std::string_view name, std::size_t at);

bool has_range(std::string_view name);

/// The name with its range narrowed to `count` of its numbers from the `first`-th (from 0) on; a
/// name without a range stays.
std::string narrowed(const std::string& name, std::int64_t first, std::int64_t count);

/// The name with its range moved by some numbers: `a_{3..996}` and -1 give `a_{2..995}`.
std::string moved(const std::string& name, std::int64_t by);

/// Equal but for the numbers in them, where a range counts as a number.
bool differ_in_numbers_only(std::string_view a, std::string_view b);

}  // namespace shard
