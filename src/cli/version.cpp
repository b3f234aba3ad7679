#include "cli/version.h"

namespace shard {

std::string_view version_number() { return SHARD_VERSION; }

std::string compiler_name() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

}  // namespace shard
