#pragma once
// Offsets for blocks of memory that live for a while: blocks whose lives meet get disjoint bytes.

#include <cstdint>
#include <vector>

#include "spmd/liveness.h"

namespace shard::spmd {

struct Block {
  std::int64_t bytes = 0;  ///< a multiple of the alignment
  Life life;
};

/// Offsets by block, such that the highest byte used is close to the most bytes ever live at once.
/// The better of two ways: largest blocks first into the lowest gap that is free for their whole
/// life (only for up to a few thousand blocks, it is quadratic), and in order of time into the
/// smallest gap free at that moment (n log n). Source of the first: Pisarchyk and Lee, "Efficient
/// Memory Management for Deep Neural Net Inference" (2020), greedy by size.
std::vector<std::int64_t> pack(const std::vector<Block>& blocks);

}  // namespace shard::spmd
