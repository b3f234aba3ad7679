#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "checkpoint/write_file.h"

namespace shard {
namespace {

constexpr int killed_exit_code = 128;  // and the signal's number, as a shell counts

// Answers are renamed into place, so leaving at once leaves nothing half written but, within a
// write, the temporary file. Files are written by the first thread: only there the handler cannot
// come between the making of a file and its announcement. Only async-signal-safe calls here.
void leave(int signal) {
  if (syscall(SYS_gettid) != getpid()) {
    syscall(SYS_tgkill, getpid(), getpid(), signal);
    return;
  }
  remove_unfinished_file();
  constexpr std::string_view text = "\ninterrupted\n";
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(killed_exit_code + signal);
}

// A closed stdout would lend its number to the first file that is opened, and the answer would be
// written there; a descriptor for reading only keeps the number and refuses the write.
void hold_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) return;
  }
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

bool has_utf8_locale() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(name)) continue;
    std::string locale(std::getenv(name));
    for (char& c : locale) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

void prepare_process() {
  hold_standard_descriptors();
  struct sigaction on_interrupt {};
  on_interrupt.sa_handler = leave;
  sigaction(SIGINT, &on_interrupt, nullptr);
  sigaction(SIGTERM, &on_interrupt, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
}

}  // namespace shard
