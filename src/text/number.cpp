#include "text/number.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "text/characters.h"

namespace shard {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<ByteUnit, 9> byte_units = {{{"B", 1},
                                                 {"KiB", 1LL << 10},
                                                 {"MiB", 1LL << 20},
                                                 {"GiB", 1LL << 30},
                                                 {"TiB", 1LL << 40},
                                                 {"kB", 1000},
                                                 {"MB", 1000 * 1000},
                                                 {"GB", 1000LL * 1000 * 1000},
                                                 {"TB", 1000LL * 1000 * 1000 * 1000}}};

// The text without the underscores that stand between digits; nothing when one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
      continue;
    }
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!between) return std::nullopt;
  }
  return plain;
}

// `007` and `-01`, not `0`, `0.5` or `0e3`.
bool has_leading_zero(std::string_view plain) {
  if (plain.starts_with('-')) plain.remove_prefix(1);
  return plain.size() > 1 && plain[0] == '0' && is_digit(plain[1]);
}

std::optional<double> finite_number(std::string_view plain) {
  // from_chars also reads "inf" and "nan", which no key of ours means.
  std::string_view digits = plain;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

IntegerReading whole_part_of(double value) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if (value != std::floor(value)) return {0, NumberFault::not_whole};
  if (value >= two_to_63 || value < -two_to_63) return {0, NumberFault::too_large};
  return {static_cast<std::int64_t>(value), std::nullopt};
}

}  // namespace

IntegerReading read_integer(std::string_view text) {
  const auto plain = without_underscores(text);
  if (!plain || plain->empty()) return {0, NumberFault::not_a_number};
  if (has_leading_zero(*plain)) return {0, NumberFault::leading_zero};
  std::int64_t value = 0;
  const char* last = plain->data() + plain->size();
  const auto [end, error] = std::from_chars(plain->data(), last, value);
  if (end == last && error == std::errc()) return {value, std::nullopt};
  if (end == last && error == std::errc::result_out_of_range) return {0, NumberFault::too_large};
  if (const auto number = finite_number(*plain)) return whole_part_of(*number);
  return {0, NumberFault::not_a_number};
}

std::optional<double> read_number(std::string_view text) {
  const auto plain = without_underscores(text);
  if (!plain || has_leading_zero(*plain)) return std::nullopt;
  return finite_number(*plain);
}

std::optional<Bytes> read_bytes(std::string_view text) {
  std::size_t letters = text.size();
  while (letters > 0 && std::isalpha(static_cast<unsigned char>(text[letters - 1]))) --letters;
  const std::string_view unit = text.substr(letters);
  std::string_view digits = text.substr(0, letters);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto number = read_number(digits);
  if (!number || *number < 0) return std::nullopt;
  for (const ByteUnit& row : byte_units) {
    if (row.name != unit && !(unit.empty() && row.bytes == 1)) continue;
    const IntegerReading exact = read_integer(digits);
    std::int64_t product = 0;
    if (!exact.fault) {
      if (__builtin_mul_overflow(exact.value, row.bytes, &product)) return std::nullopt;
      return Bytes(product);
    }
    const IntegerReading whole = whole_part_of(*number * static_cast<double>(row.bytes));
    if (whole.fault) return std::nullopt;
    return Bytes(whole.value);
  }
  return std::nullopt;
}

}  // namespace shard
