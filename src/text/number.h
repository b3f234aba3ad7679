#pragma once
// Numbers as people write them in a file: `4_096`, `1e-3`, `16 GiB`.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace shard {

/// Why a text is not the number that was asked for.
enum class NumberFault { not_a_number, too_large, leading_zero, not_whole };

/// A whole number or the reason why not. `4_096` is 4096 (an underscore stands between digits),
/// `1e6` is a million; `-3` is read. Leading zeros and anything over 63 bits are refused.
struct IntegerReading {
  std::int64_t value = 0;
  std::optional<NumberFault> fault;
};
IntegerReading read_integer(std::string_view text);

/// A finite number, whole string; `1e-3`, `4_096`, `-0.5`, `.5`. Nothing when it is not one.
std::optional<double> read_number(std::string_view text);

/// `16 GiB`, `16GiB`, `1.5 GB`, `512`: a count of bytes (KiB, MiB, GiB, TiB are powers of 1024;
/// kB, MB, GB, TB of 1000; B). Nothing when it is not one, negative, not whole or over 63 bits.
std::optional<Bytes> read_bytes(std::string_view text);

}  // namespace shard
