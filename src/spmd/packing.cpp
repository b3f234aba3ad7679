#include "spmd/packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

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

bool meet(const Life& a, const Life& b) { return a.first <= b.last && b.first <= a.last; }

std::int64_t peak(const std::vector<Block>& blocks, const Offsets& offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) top = std::max(top, offsets[i] + blocks[i].bytes);
  return top;
}

Offsets pack_by_size(const std::vector<Block>& blocks) {
  const std::vector<std::size_t> order =
      sorted_positions(blocks.size(), [&](std::size_t a, std::size_t b) {
        if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
        if (blocks[a].life.first != blocks[b].life.first)
          return blocks[a].life.first < blocks[b].life.first;
        return a < b;
      });
  Offsets offsets(blocks.size());
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t block : order) {
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {
      if (!meet(blocks[other].life, blocks[block].life)) continue;
      if (offset + blocks[block].bytes <= offsets[other]) break;
      offset = std::max(offset, offsets[other] + blocks[other].bytes);
    }
    offsets[block] = offset;
    const auto below = [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block, below), block);
  }
  return offsets;
}

/// Gaps below `top`, by place and by size.
class FreeGaps {
 public:
  std::int64_t take(std::int64_t bytes) {
    const auto fitting = by_size_.lower_bound({bytes, 0});
    if (fitting != by_size_.end()) {
      const auto [size, offset] = *fitting;
      remove(offset, size);
      if (size > bytes) add(offset + bytes, size - bytes);
      return offset;
    }
    // Nothing fits: grow the arena, starting in the gap at its top if there is one.
    std::int64_t offset = top_;
    if (!by_place_.empty()) {
      const auto [last, size] = *by_place_.rbegin();
      if (last + size == top_) {
        offset = last;
        remove(last, size);
      }
    }
    top_ = offset + bytes;
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    auto next = by_place_.lower_bound(offset);
    if (next != by_place_.end() && next->first == offset + bytes) {
      bytes += next->second;
      remove(next->first, next->second);
      next = by_place_.lower_bound(offset);
    }
    if (next != by_place_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == offset) {
        remove(before, size);
        offset = before;
        bytes += size;
      }
    }
    add(offset, bytes);
  }

 private:
  void add(std::int64_t offset, std::int64_t bytes) {
    by_place_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void remove(std::int64_t offset, std::int64_t bytes) {
    by_place_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<std::int64_t, std::int64_t> by_place_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
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
  if (blocks.size() > most_for_quadratic || peak(blocks, best) == most_live(blocks)) return best;
  Offsets by_size = pack_by_size(blocks);
  return peak(blocks, by_size) < peak(blocks, best) ? by_size : best;
}

}  // namespace shard::spmd
