#pragma once
// How much memory a program holds from instruction to instruction.

#include <vector>

#include "spmd/program.h"

namespace shard {

/// What one device holds at one moment: before the first instruction, at each, after the last. One
/// iteration stands for all of a loop.
struct MemoryMoment {
  int body = 0;  ///< of the instruction
  int position =
      -1;  ///< in the body; -1 before the first of the main body, its size after the last
  Bytes live;
  std::vector<CategoryBytes> by_category;  ///< sums to `live`; categories with no byte absent
};

/// In order. The largest `live` is the memory plan's `peak_live`.
std::vector<MemoryMoment> memory_course(const Program& program);

}  // namespace shard
