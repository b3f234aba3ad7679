#pragma once
// For tests only: ways to break a cluster on purpose, so that tests can show that it is noticed.

#include <utility>
#include <vector>

#include "exec/kernel.h"

namespace shard {

struct TestSeam {
  std::vector<std::pair<Op, KernelMaker>> kernels;  ///< used instead of the table's rows
};

}  // namespace shard
