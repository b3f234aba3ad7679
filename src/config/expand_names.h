#pragma once
// Names that stand for many: `layers.{0..31}.kernel` is 32 names.

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

/// All names, in the order of their numbers, the first range slowest. Braces with anything but two
/// numbers in them are text. Raises `bad-range` for a range that runs backwards and
/// `too-many-arrays` for more than a million names; nothing then.
std::optional<std::vector<std::string>> expand_names(const std::string& name, const Location& at,
                                                     Diagnostics& diagnostics);

}  // namespace shard
