#include "spmd/packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
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

Offsets pack_by_time(const std::vector<Block>& blocks) {
  // What lives longest goes lowest among those that begin together.
  const std::vector<std::size_t> order =
      sorted_positions(blocks.size(), [&](std::size_t a, std::size_t b) {
        const Life &one = blocks[a].life, &other = blocks[b].life;
        if (one.first != other.first) return one.first < other.first;
        if (one.last != other.last) return one.last > other.last;
        return a < b;
      });
  using Ending = std::pair<int, std::size_t>;  // last moment, block
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  FreeGaps gaps;
  Offsets offsets(blocks.size());
  for (const std::size_t block : order) {
    if (blocks[block].bytes == 0) continue;  // anywhere will do
    while (!endings.empty() && endings.top().first < blocks[block].life.first) {
      const std::size_t ended = endings.top().second;
      gaps.give_back(offsets[ended], blocks[ended].bytes);
      endings.pop();
    }
    offsets[block] = gaps.take(blocks[block].bytes);
    endings.push({blocks[block].life.last, block});
  }
  return offsets;
}

}  // namespace

std::vector<std::int64_t> pack(const std::vector<Block>& blocks) {
  Offsets best = pack_by_time(blocks);
  if (blocks.size() > most_for_quadratic) return best;
  Offsets by_size = pack_by_size(blocks);
  return peak(blocks, by_size) < peak(blocks, best) ? by_size : best;
}

}  // namespace shard::spmd
