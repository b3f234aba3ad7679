#include "cli/values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"

namespace shard {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 10> byte_units = {{
    {"", 1},
    {"B", 1},
    {"KiB", 0x1p10},
    {"MiB", 0x1p20},
    {"GiB", 0x1p30},
    {"TiB", 0x1p40},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
}};

[[noreturn]] void refuse(const std::string& option, const std::string& expected,
                         const std::string& found) {
  throw Error("bad-value", {option}, "expected " + expected + ", found '" + found + "'");
}

}  // namespace

std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < least ||
      number > most) {
    refuse(option, "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
           text);
  }
  return number;
}

Bytes read_bytes(const std::string& option, const std::string& text) {
  constexpr double most = 0x1p62;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : byte_units) {
    const double bytes = number * factor;
    if (problem == std::errc() && unit == name && bytes > 0 && bytes < most) {
      return Bytes(std::llround(bytes));
    }
  }
  refuse(option, "a positive number of bytes such as 16GiB or 800MB", text);
}

double read_percent(const std::string& option, const std::string& text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (problem != std::errc() || (!rest.empty() && rest != "%") || !(number >= 0) ||
      std::isinf(number)) {
    refuse(option, "a percentage such as 10 or 2.5", text);
  }
  return number;
}

Seconds read_seconds(const std::string& option, const std::string& text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || !(number >= 0) ||
      number > 1e9) {
    refuse(option, "seconds such as 30 or 0.5", text);
  }
  return {number};
}

}  // namespace shard
