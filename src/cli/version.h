#pragma once
// What `--version` says.

#include <string>
#include <string_view>

namespace shard {

std::string_view version_number();
/// `g++ 12.2.0`
std::string compiler_name();

}  // namespace shard
