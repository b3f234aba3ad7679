#pragma once
// What a failure says, for tests that compare whole messages.

#include <string>

#include "base/diagnostic.h"

namespace shard {

/// All diagnostics of the `Error` that `work` throws, each on a line of its own; "" when it throws
/// none.
template <class Work>
std::string told_by(Work work) {
  try {
    work();
  } catch (const Error& error) {
    std::string all;
    for (const Diagnostic& one : error.diagnostics()) all += to_string(one) + "\n";
    return all;
  }
  return "";
}

}  // namespace shard
