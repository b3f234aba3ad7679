#include "base/units.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace shard {

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string human(Bytes bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes.count());
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return std::to_string(bytes.count()) + " B";
  const int decimals = std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, units[unit]);
  return text.data();
}

}  // namespace shard
