#include "cli/answer.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/diagnostic.h"
#include "checkpoint/write_file.h"

namespace shard {

int write_fully(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

void write_answer(const Options& options, const std::string& text) {
  if (!options.output.empty()) {
    write_file(options.output, text, options.force);
    return;
  }
  if (options.quiet) return;
  const int problem = write_fully(STDOUT_FILENO, text);
  if (problem == 0 || problem == EPIPE) return;
  throw Error("unwritable-file", {"stdout"},
              "the answer could not be written: " + std::generic_category().message(problem),
              "`-o FILE` writes it to a file, whole or not at all");
}

}  // namespace shard
