#include "model/range_names.h"

#include <algorithm>

namespace shard {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at `at`, if they say a number the usual way; else nothing.
std::string_view usual_digits(std::string_view name, std::size_t at) {
  constexpr std::size_t most_digits = 18;
  std::size_t end = at;
  while (end < name.size() && is_digit(name[end])) ++end;
  const std::string_view digits = name.substr(at, end - at);
  const bool is_usual = digits.size() <= most_digits && (digits.size() == 1 || digits[0] != '0');
  return digits.empty() || !is_usual ? std::string_view() : digits;
}

/// A number or a range in a name, not read yet; `length` is 0 where there is none.
struct Digits {
  std::string_view first, last;
  std::size_t length = 0;
};

Digits digits_at(std::string_view name, std::size_t at) {
  if (name[at] != '{') {
    const std::string_view digits = usual_digits(name, at);
    return {digits, digits, digits.size()};
  }
  const std::string_view first = usual_digits(name, at + 1);
  const std::size_t dots = at + 1 + first.size();
  if (first.empty() || name.substr(dots, 2) != "..") return {};
  const std::string_view last = usual_digits(name, dots + 2);
  const std::size_t end = dots + 2 + last.size();
  if (last.empty() || name.substr(end, 1) != "}") return {};
  return {first, last, end + 1 - at};
}

/// Nothing else can be the begin of a number or a range.
bool may_begin_number(char c) { return is_digit(c) || c == '{'; }

std::int64_t number(std::string_view digits) { return std::stoll(std::string(digits)); }

/// The name with its first range replaced by what `change` makes of it.
template <class Change>
std::string with_range(const std::string& name, const Change& change) {
  for (std::size_t at = name.find('{'); at != std::string::npos; at = name.find('{', at + 1)) {
    const auto found = number_at(name, at);
    if (!found) continue;
    const NumberRange now = change(found->range);
    std::string text = std::to_string(now.first);
    if (now.count() > 1) text = '{' + text + ".." + std::to_string(now.last) + '}';
    return name.substr(0, at) + text + name.substr(at + found->length);
  }
  return name;
}

}  // namespace

std::optional<NumberText> number_at(std::string_view name, std::size_t at) {
  const Digits digits = digits_at(name, at);
  if (digits.length == 0) return std::nullopt;
  return NumberText{{number(digits.first), number(digits.last)}, digits.length};
}

bool has_range(std::string_view name) {
  for (std::size_t at = name.find('{'); at != std::string_view::npos; at = name.find('{', at + 1)) {
    if (number_at(name, at)) return true;
  }
  return false;
}

std::string narrowed(const std::string& name, std::int64_t first, std::int64_t count) {
  return with_range(name, [&](const NumberRange& range) {
    return NumberRange{range.first + first, range.first + first + count - 1};
  });
}

std::string moved(const std::string& name, std::int64_t by) {
  return with_range(name, [&](const NumberRange& range) {
    return NumberRange{range.first + by, range.last + by};
  });
}

bool differ_in_numbers_only(std::string_view a, std::string_view b) {
  if (a == b) return true;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!may_begin_number(a[i])) {
      if (a[i++] != b[j++]) return false;
      continue;
    }
    const std::size_t one = digits_at(a, i).length, other = digits_at(b, j).length;
    if ((one == 0) != (other == 0) || (one == 0 && a[i] != b[j])) return false;
    i += one == 0 ? 1 : one;
    j += other == 0 ? 1 : other;
  }
  return i == a.size() && j == b.size();
}

}  // namespace shard
