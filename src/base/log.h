#pragma once
// Logging to stderr for -v and -vv. The only header that sees spdlog; a library function returns
// what it found, it does not log at info.

#include <string_view>

namespace shard {

enum class LogLevel { quiet, warning, info, debug };

/// Sets the level for the process; `debug` also prints times. Called once, by `cli`.
void set_log_level(LogLevel level);

void log_info(std::string_view text);
void log_debug(std::string_view text);

}  // namespace shard
