#include "config/expand_names.h"

#include <cstdint>

#include "text/number.h"

namespace shard {
namespace {

constexpr std::int64_t most_names = 1'000'000;

/// `{0..31}` in a name, from its brace on.
struct Range {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::optional<Range> range_at(const std::string& name, std::size_t open) {
  const std::size_t close = name.find('}', open);
  const std::size_t dots = name.find("..", open);
  if (close == std::string::npos || dots == std::string::npos || dots > close) return std::nullopt;
  const IntegerReading first = read_integer(name.substr(open + 1, dots - open - 1));
  const IntegerReading last = read_integer(name.substr(dots + 2, close - dots - 2));
  if (first.fault || last.fault || first.value < 0) return std::nullopt;
  return Range{open, close - open + 1, first.value, last.value};
}

std::vector<Range> ranges_of(const std::string& name) {
  std::vector<Range> ranges;
  std::size_t open = name.find('{');
  while (open != std::string::npos) {
    const auto range = range_at(name, open);
    if (range) ranges.push_back(*range);
    open = name.find('{', range ? open + range->length : open + 1);
  }
  return ranges;
}

/// How many names there are; nothing after raising what is wrong with the ranges.
std::optional<std::int64_t> count_of(const std::vector<Range>& ranges, const std::string& name,
                                     const Location& at, Diagnostics& diagnostics) {
  std::int64_t count = 1;
  for (const Range& range : ranges) {
    const std::string text = name.substr(range.begin, range.length);
    if (range.last < range.first) {
      diagnostics.error(
          "bad-range", at, "the range " + text + " runs backwards",
          "write {" + std::to_string(range.last) + ".." + std::to_string(range.first) + "}");
      return std::nullopt;
    }
    const std::int64_t steps = range.last - range.first;
    if (steps >= most_names || count * (steps + 1) > most_names) {
      diagnostics.error("too-many-arrays", at,
                        "'" + name + "' stands for more than 1,000,000 arrays");
      return std::nullopt;
    }
    count *= steps + 1;
  }
  return count;
}

}  // namespace

std::optional<std::vector<std::string>> expand_names(const std::string& name, const Location& at,
                                                     Diagnostics& diagnostics) {
  const std::vector<Range> ranges = ranges_of(name);
  const auto count = count_of(ranges, name, at, diagnostics);
  if (!count) return std::nullopt;
  std::vector<std::string> names = {""};
  names.reserve(static_cast<std::size_t>(*count));
  std::size_t from = 0;
  for (const Range& range : ranges) {
    const std::string before = name.substr(from, range.begin - from);
    std::vector<std::string> longer;
    longer.reserve(static_cast<std::size_t>(*count));
    for (const std::string& start : names) {
      for (std::int64_t number = range.first; number <= range.last; ++number) {
        longer.push_back(start + before + std::to_string(number));
      }
    }
    names = std::move(longer);
    from = range.begin + range.length;
  }
  for (std::string& one : names) one += name.substr(from);
  return names;
}

}  // namespace shard
