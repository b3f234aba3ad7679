#include "base/check.h"

#include <string_view>

namespace shard {
namespace {

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind("/src/");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

InternalError::InternalError(const std::string& belief, std::source_location where)
    : std::logic_error(std::string(file_name(where.file_name())) + ':' +
                       std::to_string(where.line()) + ": broken invariant: " + belief +
                       " (this is a bug in shard-plan)") {}

void fail_check(const char* belief, std::source_location where) {
  throw InternalError(belief, where);
}

}  // namespace shard
