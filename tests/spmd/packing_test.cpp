// Blocks of memory that live for a while.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "spmd/packing.h"

using namespace shard;
using namespace shard::spmd;

namespace {

std::int64_t peak(const std::vector<Block>& blocks, const std::vector<std::int64_t>& offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) top = std::max(top, offsets[i] + blocks[i].bytes);
  return top;
}

std::int64_t most_live(const std::vector<Block>& blocks) {
  std::int64_t most = 0;
  for (const Block& one : blocks) {
    std::int64_t live = 0;
    for (const Block& other : blocks) {
      if (other.life.first <= one.life.first && one.life.first <= other.life.last)
        live += other.bytes;
    }
    most = std::max(most, live);
  }
  return most;
}

/// Pairs of blocks that meet in time and in memory.
int collisions(const std::vector<Block>& blocks, const std::vector<std::int64_t>& offsets) {
  int count = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t k = i + 1; k < blocks.size(); ++k) {
      const bool meet_in_time = blocks[i].life.first <= blocks[k].life.last &&
                                blocks[k].life.first <= blocks[i].life.last;
      const bool meet_in_memory =
          offsets[i] < offsets[k] + blocks[k].bytes && offsets[k] < offsets[i] + blocks[i].bytes;
      if (meet_in_time && meet_in_memory) ++count;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("a block takes the place of one that ended before") {
  const std::vector<Block> blocks{{128, {0, 1}}, {64, {1, 2}}, {128, {2, 3}}};
  CHECK(pack(blocks) == std::vector<std::int64_t>{0, 128, 0});
}

TEST_CASE("blocks that meet at one moment do not share bytes") {
  const std::vector<Block> blocks{{64, {0, 1}}, {64, {1, 1}}, {64, {1, 2}}};
  CHECK(collisions(blocks, pack(blocks)) == 0);
}

TEST_CASE("random blocks never collide and waste little") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    // Above 2,048 blocks only the fast way is taken.
    const std::size_t count = seed % 10 == 9 ? 2100 : 1 + rng() % 200;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      const int first = static_cast<int>(rng() % count);
      const int last = first + static_cast<int>(rng() % 20);
      blocks.push_back({static_cast<std::int64_t>(64 * (rng() % 50)), {first, last}});
    }
    const std::vector<std::int64_t> offsets = pack(blocks);
    CHECK(collisions(blocks, offsets) == 0);
    CHECK(peak(blocks, offsets) <= 2 * most_live(blocks));
    CHECK(pack(blocks) == offsets);
  }
}

TEST_CASE("forward activations freed in reverse order waste nothing") {
  std::vector<Block> blocks;
  for (int layer = 0; layer < 1000; ++layer) {
    blocks.push_back({4096, {layer, 2000 - layer}});         // kept for the backward pass
    blocks.push_back({1024, {2000 - layer, 2001 - layer}});  // its gradient
  }
  CHECK(peak(blocks, pack(blocks)) <= most_live(blocks) + 2048);
}
