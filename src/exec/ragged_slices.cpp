#include "exec/ragged_slices.h"

#include <algorithm>

#include "exec/run_failure.h"
#include "exec/whole_numbers.h"

namespace shard {
namespace {

enum RaggedList : std::size_t { input_offsets, send_sizes, output_offsets, recv_sizes };

std::string rows_text(std::int64_t rows) {
  return std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

std::string list_name(RaggedList list) {
  return std::string(ragged_operand_name(ragged_lists_begin + list));
}

class RaggedReader {
 public:
  RaggedReader(const RaggedSizes& sizes, std::span<const RaggedLists> members)
      : sizes_(sizes), each_(sizes.entries / sizes.members) {
    numbers_.resize(members.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      for (std::size_t list = 0; list < ragged_lists; ++list) {
        std::vector<std::int64_t>& numbers = numbers_[m][list];
        numbers.resize(static_cast<std::size_t>(sizes.entries));
        to_integers(sizes.dtypes[list], members[m][list], numbers.data(), numbers.size());
      }
    }
  }

  std::vector<RaggedSlice> run() const {
    std::vector<RaggedSlice> slices;
    for (std::int64_t from = 0; from < sizes_.members; ++from) {
      for (std::int64_t entry = 0; entry < sizes_.entries; ++entry) {
        const RaggedSlice slice = slice_at(from, entry);
        if (slice.rows > 0) slices.push_back(slice);
      }
    }
    check_overlaps(slices, true);
    check_overlaps(slices, false);
    return slices;
  }

 private:
  std::int64_t number(RaggedList list, std::int64_t member, std::int64_t entry) const {
    return numbers_[static_cast<std::size_t>(member)][list][static_cast<std::size_t>(entry)];
  }

  RaggedSlice slice_at(std::int64_t from, std::int64_t entry) const {
    const std::int64_t to = entry / each_, there = from * each_ + entry % each_;
    const RaggedSlice slice{static_cast<int>(from), static_cast<int>(to),
                            number(input_offsets, from, entry), number(output_offsets, from, entry),
                            number(send_sizes, from, entry)};
    const std::int64_t expected = number(recv_sizes, to, there);
    if (slice.rows != expected) {
      fail("ragged-sizes",
           name(from) + " sends " + rows_text(slice.rows) + " to " + name(to) + ", which expects " +
               std::to_string(expected) + " (entry " + std::to_string(entry) + " of " +
               list_name(send_sizes) + ", entry " + std::to_string(there) + " of " +
               list_name(recv_sizes) + ")",
           "recv_sizes is the all_to_all of send_sizes");
    }
    check_range(slice.in, slice.rows, sizes_.in_rows,
                name(from) + " sends " + name(to) + " rows of its operand", input_offsets, entry);
    check_range(slice.out, slice.rows, sizes_.out_rows,
                name(from) + " sends to rows of the result of " + name(to), output_offsets, entry);
    return slice;
  }

  /// Nothing is added up before it is known to be small.
  void check_range(std::int64_t first, std::int64_t rows, std::int64_t size,
                   const std::string& what, RaggedList list, std::int64_t entry) const {
    if (rows >= 0 && rows <= size && first >= 0 && first <= size - rows) return;
    fail("ragged-range",
         what + ", " + std::to_string(rows) + " from " + std::to_string(first) + " on, of " +
             std::to_string(size) + " (entry " + std::to_string(entry) + " of " + list_name(list) +
             " and " + list_name(send_sizes) + ")",
         "a slice begins at 0 or behind and ends with the array at the latest");
  }

  void check_overlaps(std::vector<RaggedSlice> slices, bool is_sent) const {
    const auto member = [&](const RaggedSlice& one) { return is_sent ? one.from : one.to; };
    const auto first = [&](const RaggedSlice& one) { return is_sent ? one.in : one.out; };
    std::stable_sort(slices.begin(), slices.end(), [&](const RaggedSlice& a, const RaggedSlice& b) {
      return std::pair(member(a), first(a)) < std::pair(member(b), first(b));
    });
    for (std::size_t i = 1; i < slices.size(); ++i) {
      const RaggedSlice &before = slices[i - 1], &one = slices[i];
      if (member(before) != member(one) || first(before) + before.rows <= first(one)) continue;
      const std::string row = "row " + std::to_string(first(one));
      if (is_sent) {
        fail("ragged-overlap",
             name(one.from) + " sends " + row + " of its operand twice, to " + name(before.to) +
                 " and to " + name(one.to),
             "send a copy of the row: behind the others in the operand");
      }
      fail("ragged-overlap",
           name(one.to) + " gets " + row + " of its result twice, from " + name(before.from) +
               " and from " + name(one.from),
           "output_offsets and send_sizes keep what arrives apart");
    }
  }

  std::string name(std::int64_t member) const {
    if (sizes_.devices.empty()) return "member " + std::to_string(member);
    return "device " + std::to_string(sizes_.devices[static_cast<std::size_t>(member)]);
  }

  [[noreturn]] static void fail(const char* id, const std::string& message,
                                const std::string& hint) {
    throw RunFailure(id, {}, message, hint);
  }

  const RaggedSizes& sizes_;
  std::int64_t each_;  ///< entries of a member for each other
  std::vector<std::array<std::vector<std::int64_t>, ragged_lists>> numbers_;
};

}  // namespace

RaggedSizes::RaggedSizes(std::span<const TensorType> operands, int leads, std::int64_t members_)
    : members(members_) {
  const auto rows = static_cast<std::size_t>(leads);
  entries = operands[ragged_lists_begin].shape[rows];
  in_rows = operands[0].shape[rows];
  out_rows = operands[1].shape[rows];
  for (std::size_t dim = rows + 1; dim < operands[0].shape.size(); ++dim) {
    row_elements *= operands[0].shape[dim];
  }
  for (std::size_t list = 0; list < ragged_lists; ++list) {
    dtypes[list] = operands[ragged_lists_begin + list].dtype;
  }
}

std::vector<RaggedSlice> ragged_slices(const RaggedSizes& sizes,
                                       std::span<const RaggedLists> members) {
  return RaggedReader(sizes, members).run();
}

std::vector<std::int64_t> ragged_rows_sent(const RaggedSizes& sizes,
                                           std::span<const RaggedSlice> slices) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(sizes.members));
  for (const RaggedSlice& slice : slices) {
    if (slice.from != slice.to) sent[static_cast<std::size_t>(slice.from)] += slice.rows;
  }
  return sent;
}

}  // namespace shard
