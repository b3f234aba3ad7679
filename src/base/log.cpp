#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace shard {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("shard-plan",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("%l: %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) {
  switch (level) {
    case LogLevel::quiet:
      logger().set_level(spdlog::level::off);
      break;
    case LogLevel::warning:
      logger().set_level(spdlog::level::warn);
      break;
    case LogLevel::info:
      logger().set_level(spdlog::level::info);
      break;
    case LogLevel::debug:
      logger().set_level(spdlog::level::debug);
      logger().set_pattern("%T.%e %l: %v");
      break;
  }
}

void log_info(std::string_view text) { logger().info("{}", text); }
void log_debug(std::string_view text) { logger().debug("{}", text); }

}  // namespace shard
