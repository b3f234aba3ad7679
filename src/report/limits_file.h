#pragma once
// The file in which `run --profile` keeps what machines can do, for later runs.

#include <string>
#include <string_view>
#include <vector>

#include "exec/limits.h"

namespace shard {

/// What one kind of machine can do with some number of workers.
struct KeptLimits {
  std::string processor;
  int workers = 1;
  MachineLimits limits;
};

/// Throws `Error` (`bad-limits`, `json-syntax`) with the place for what `limits_text` does not
/// write.
std::vector<KeptLimits> read_limits(const std::string& file, std::string_view text);

std::string limits_text(const std::vector<KeptLimits>& kept);

/// The entry for that machine, or nullptr.
const KeptLimits* limits_of(const std::vector<KeptLimits>& kept, const std::string& processor,
                            int workers);

}  // namespace shard
