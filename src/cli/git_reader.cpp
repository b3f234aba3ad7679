#include "cli/git_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/diagnostic.h"

extern char** environ;

namespace shard {
namespace {

namespace fs = std::filesystem;

/// A pipe whose ends are closed when they are no longer needed, and not inherited.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw Error("missing-program", {"git"}, "no pipe: " + std::generic_category().message(errno));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int end(std::size_t which) const { return ends_[which]; }
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

/// Reads some; false at the end.
bool read_some(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

/// Both to their ends, whichever has something.
void read_both(Pipe& out, Pipe& err, ProgramAnswer& answer) {
  std::array<pollfd, 2> open = {{{out.end(0), POLLIN, 0}, {err.end(0), POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&answer.out, &answer.err};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd >= 0 && open[i].revents != 0 && !read_some(open[i].fd, *texts[i])) {
        open[i].fd = -1;
      }
    }
  }
}

pid_t start(const std::vector<std::string>& words, const Pipe& out, const Pipe& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.end(1), STDERR_FILENO);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem == 0) return child;
  throw Error("missing-program", {"command line"},
              "'" + words.front() + "' cannot be run: " + std::generic_category().message(problem),
              "install it, or put it on the path");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

ProgramAnswer git(const std::string& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", folder.empty() ? "." : folder});
  return run_program(words);
}

}  // namespace

ProgramAnswer run_program(const std::vector<std::string>& words) {
  Pipe out;
  Pipe err;
  const pid_t child = start(words, out, err);
  out.close_end(1);
  err.close_end(1);
  ProgramAnswer answer;
  read_both(out, err, answer);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return answer;
}

GitReader::GitReader(const std::string& folder, const std::string& revision) {
  const ProgramAnswer top = git(folder, {"rev-parse", "--show-toplevel"});
  if (top.code != 0) {
    throw Error(
        "no-repository", {"--against"},
        "'" + (folder.empty() ? "." : folder) + "' is in no git repository: " + first_line(top.err),
        "--against compares with a revision; a lock file needs none");
  }
  root_ = fs::weakly_canonical(first_line(top.out)).string();
  const ProgramAnswer commit =
      git(folder, {"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
  if (commit.code != 0) {
    throw Error("unknown-revision", {"--against"},
                "git knows no revision '" + revision + "': " + first_line(commit.err),
                "a branch, a tag, a commit, HEAD~1; a shallow clone has only the newest");
  }
  commit_ = first_line(commit.out);
}

std::optional<std::string> GitReader::inside(const std::string& path) const {
  const fs::path relative = fs::weakly_canonical(fs::absolute(path)).lexically_relative(root_);
  if (relative.empty() || *relative.begin() == "..") return {};
  return relative.generic_string();
}

std::optional<std::string> GitReader::read(const std::string& path) {
  const auto name = inside(path);
  if (!name) return disk_.read(path);
  const std::string object = commit_ + ':' + *name;
  const ProgramAnswer kind = git(root_, {"cat-file", "-t", object});
  if (kind.code != 0) return {};
  if (first_line(kind.out) != "blob") {
    throw Error("unreadable-file", {path}, "'" + path + "' is no file in that revision");
  }
  ProgramAnswer text = git(root_, {"cat-file", "blob", object});
  if (text.code != 0) throw Error("unreadable-file", {path}, first_line(text.err));
  return std::move(text.out);
}

std::optional<std::string> GitReader::read_start(const std::string& path, std::size_t bytes) {
  if (!inside(path)) return disk_.read_start(path, bytes);
  auto text = read(path);
  if (text && text->size() > bytes) text->resize(bytes);
  return text;
}

std::vector<std::string> GitReader::list(const std::string& folder) {
  const auto name = inside(folder);
  if (!name) return disk_.list(folder);
  const ProgramAnswer found =
      git(root_, {"ls-tree", "--name-only", *name == "." ? commit_ : commit_ + ':' + *name});
  std::vector<std::string> names;
  for (std::size_t start = 0; start < found.out.size();) {
    const std::size_t end = found.out.find('\n', start);
    names.push_back(found.out.substr(start, end - start));
    if (end == std::string::npos) break;
    start = end + 1;
  }
  return names;
}

}  // namespace shard
