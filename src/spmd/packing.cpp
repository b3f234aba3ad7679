#include "spmd/packing.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace shard::spmd {
namespace {

constexpr std::size_t most_for_quadratic = 2048;

using Offsets = std::vector<std::int64_t>;

std::vector<std::size_t> sorted_positions(std::size_t count, auto before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), before);
  return order;
}

std::int64_t peak(const std::vector<Block>& blocks, const Offsets& offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) top = std::max(top, offsets[i] + blocks[i].bytes);
  return top;
}

/// A block that has its place.
struct Placed {
  Life life;
  std::int64_t offset = 0;
  std::int64_t end = 0;
};

/// Nothing as soon as a block reaches `limit`.
std::optional<Offsets> pack_by_size(const std::vector<Block>& blocks, std::int64_t limit) {
  const std::vector<std::size_t> order =
      sorted_positions(blocks.size(), [&](std::size_t a, std::size_t b) {
        if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
        if (blocks[a].life.first != blocks[b].life.first)
          return blocks[a].life.first < blocks[b].life.first;
        return a < b;
      });
  Offsets offsets(blocks.size());
  std::vector<Placed> placed;  // by offset
  placed.reserve(blocks.size());
  for (const std::size_t number : order) {
    const auto& [bytes, life] = blocks[number];
    std::int64_t offset = 0;
    for (const Placed& other : placed) {
      if (other.life.first > life.last || life.first > other.life.last) continue;
      if (offset + bytes <= other.offset) break;
      offset = std::max(offset, other.end);
    }
    if (offset + bytes >= limit) return std::nullopt;
    offsets[number] = offset;
    const auto below = [](std::int64_t place, const Placed& one) { return place < one.offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, below),
                  {life, offset, offset + bytes});
  }
  return offsets;
}

/// Gaps below `top`. There are few, whatever the number of blocks: they are looked through in a
/// row.
class FreeGaps {
 public:
  /// The smallest that fits, the lowest of equals.
  std::int64_t take(std::int64_t bytes) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->bytes < bytes || (best != gaps_.end() && gap->bytes >= best->bytes)) continue;
      best = gap;
      if (gap->bytes == bytes) break;
    }
    if (best == gaps_.end()) return grow(bytes);
    const std::int64_t offset = best->offset;
    best->offset += bytes;
    best->bytes -= bytes;
    if (best->bytes == 0) gaps_.erase(best);
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    const auto next =
        std::lower_bound(gaps_.begin(), gaps_.end(), offset,
                         [](const Gap& gap, std::int64_t place) { return gap.offset < place; });
    const bool meets_next = next != gaps_.end() && next->offset == offset + bytes;
    const bool meets_last =
        next != gaps_.begin() && std::prev(next)->offset + std::prev(next)->bytes == offset;
    if (meets_last) {
      std::prev(next)->bytes += bytes + (meets_next ? next->bytes : 0);
      if (meets_next) gaps_.erase(next);
    } else if (meets_next) {
      *next = {offset, bytes + next->bytes};
    } else {
      gaps_.insert(next, {offset, bytes});
    }
  }

 private:
  struct Gap {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };

  /// Starts in the gap at the arena's top if there is one.
  std::int64_t grow(std::int64_t bytes) {
    std::int64_t offset = top_;
    if (!gaps_.empty() && gaps_.back().offset + gaps_.back().bytes == top_) {
      offset = gaps_.back().offset;
      gaps_.pop_back();
    }
    top_ = offset + bytes;
    return offset;
  }

  std::vector<Gap> gaps_;  ///< by offset; no two meet
  std::int64_t top_ = 0;
};

int last_moment(const std::vector<Block>& blocks) {
  int last = 0;
  for (const Block& block : blocks) last = std::max(last, block.life.last);
  return last;
}

/// The positions by a key from 0 to `highest`, equal ones as they were: moments are few.
std::vector<std::size_t> counting_sorted(const std::vector<std::size_t>& positions, int highest,
                                         auto key) {
  std::vector<std::size_t> begins(static_cast<std::size_t>(highest) + 2);
  for (const std::size_t position : positions)
    ++begins[static_cast<std::size_t>(key(position)) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::size_t> sorted(positions.size());
  for (const std::size_t position : positions)
    sorted[begins[static_cast<std::size_t>(key(position))]++] = position;
  return sorted;
}

Offsets pack_by_time(const std::vector<Block>& blocks) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes > 0) all.push_back(i);  // others may lie anywhere
  }
  const int end = last_moment(blocks);
  const auto first = [&](std::size_t block) { return blocks[block].life.first; };
  const auto last = [&](std::size_t block) { return blocks[block].life.last; };
  // What lives longest goes lowest among those that begin together.
  const std::vector<std::size_t> by_length =
      counting_sorted(all, end, [&](std::size_t block) { return end - last(block); });
  const std::vector<std::size_t> endings = counting_sorted(all, end, last);
  std::size_t ended = 0;
  FreeGaps gaps;
  Offsets offsets(blocks.size());
  for (const std::size_t block : counting_sorted(by_length, end, first)) {
    for (; last(endings[ended]) < first(block); ++ended)
      gaps.give_back(offsets[endings[ended]], blocks[endings[ended]].bytes);
    offsets[block] = gaps.take(blocks[block].bytes);
  }
  return offsets;
}

/// The most bytes that are live at once: no packing ends below.
std::int64_t most_live(const std::vector<Block>& blocks) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(last_moment(blocks)) + 2);
  for (const Block& block : blocks) {
    change[static_cast<std::size_t>(block.life.first)] += block.bytes;
    change[static_cast<std::size_t>(block.life.last) + 1] -= block.bytes;
  }
  std::int64_t live = 0, most = 0;
  for (const std::int64_t by : change) most = std::max(most, live += by);
  return most;
}

}  // namespace

std::vector<std::int64_t> pack(const std::vector<Block>& blocks) {
  Offsets best = pack_by_time(blocks);
  const std::int64_t highest = peak(blocks, best);
  if (blocks.size() > most_for_quadratic || highest == most_live(blocks)) return best;
  std::optional<Offsets> lower = pack_by_size(blocks, highest);
  return lower ? std::move(*lower) : best;
}

}  // namespace shard::spmd
