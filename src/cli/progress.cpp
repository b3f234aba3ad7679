#include "cli/progress.h"

#include <unistd.h>

#include <utility>

#include "cli/answer.h"

namespace shard {
namespace {

constexpr const char* clear_line = "\r\x1b[K";
constexpr std::chrono::seconds patience{1};

}  // namespace

Progress::Progress(const Options& options)
    : is_on_(!options.quiet && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (std::exchange(is_shown_, false)) write_fully(STDERR_FILENO, clear_line);
}

void Progress::say(const std::string& what) {
  if (!is_on_ || std::chrono::steady_clock::now() - start_ < patience) return;
  is_shown_ = true;
  write_fully(STDERR_FILENO, clear_line + what);
}

}  // namespace shard
