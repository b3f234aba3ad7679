#pragma once
// Which rows go where in a ragged_all_to_all, read from its lists when all members' are at hand,
// and checked: nothing outside of an array is read or written, and the answer does not depend on
// who writes first.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/ragged_exchange.h"

namespace shard {

/// A member's lists, in the order of the operands.
constexpr std::size_t ragged_lists = ragged_operands - ragged_lists_begin;
using RaggedLists = std::array<const std::byte*, ragged_lists>;

/// The sizes of one exchange.
struct RaggedSizes {
  std::int64_t members = 1;
  std::int64_t entries = 1;  ///< of a list
  std::int64_t in_rows = 0;  ///< of a member's operand
  std::int64_t out_rows = 0;
  std::int64_t row_elements = 1;
  std::array<DType, ragged_lists> dtypes{};
  /// The members' devices, for messages; empty: they are all on one.
  std::vector<int> devices{};

  /// Of types that have `leads` leading dims, `members` of them in the exchange.
  RaggedSizes(std::span<const TensorType> operands, int leads, std::int64_t members);

  std::int64_t list_bytes(std::size_t list) const { return entries * info(dtypes[list]).bytes; }
};

/// Rows of one member's operand that become rows of another's result.
struct RaggedSlice {
  int from = 0, to = 0;
  std::int64_t in = 0, out = 0, rows = 0;
};

/// All slices that are not empty, by sender and entry. Throws `RunFailure`, with the members and
/// the numbers: `ragged-range` for a slice that does not lie in its array, `ragged-sizes` where
/// sender and receiver say different sizes, `ragged-overlap` where a row is sent or written twice.
std::vector<RaggedSlice> ragged_slices(const RaggedSizes& sizes,
                                       std::span<const RaggedLists> members);

/// Rows that each member sends to others.
std::vector<std::int64_t> ragged_rows_sent(const RaggedSizes& sizes,
                                           std::span<const RaggedSlice> slices);

}  // namespace shard
