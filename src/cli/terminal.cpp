#include "cli/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace shard {
namespace {

constexpr int interrupted_exit_code = 130;

// Nothing is half written at any moment (answers are renamed into place), so leaving at once is
// safe; only async-signal-safe calls here.
void leave(int /*signal*/) {
  constexpr std::string_view text = "\ninterrupted\n";
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(interrupted_exit_code);
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool use_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(fd) != 0 && !is_set("NO_COLOR") && !is_dumb;
}

std::optional<int> terminal_width(int fd) {
  winsize size{};
  if (isatty(fd) == 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return size.ws_col;
}

void install_signal_handlers() {
  struct sigaction on_interrupt {};
  on_interrupt.sa_handler = leave;
  sigaction(SIGINT, &on_interrupt, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

}  // namespace shard
