#pragma once
// Broken invariants: our bugs, never the user's. Exit code 70.

#include <source_location>
#include <stdexcept>
#include <string>

namespace shard {

/// A belief of ours that turned out false. The text names the place and says that it is our bug.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& belief,
                         std::source_location where = std::source_location::current());
};

/// Throws `InternalError`; out of line so that a check costs one branch where it stands.
[[noreturn]] void fail_check(const char* belief, std::source_location where);

}  // namespace shard

// A macro because the condition must not be evaluated into a function argument's message eagerly.
#define SHARD_CHECK(condition, belief)                                              \
  do {                                                                              \
    if (!(condition)) ::shard::fail_check(belief, std::source_location::current()); \
  } while (false)
