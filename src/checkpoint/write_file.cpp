#include "checkpoint/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/diagnostic.h"

namespace shard {
namespace {

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw Error("unwritable-file", {}, "'" + path + "' cannot be written: " + std::strerror(reason));
}

/// The path of the temporary file there is, for a signal handler; empty: none. The first byte is
/// written last and cleared first, so what the handler sees is a whole path or none.
struct UnfinishedFile {
  char path[PATH_MAX] = "";

  void begin(const std::string& name) {
    if (name.size() >= sizeof path) return;  // cannot be opened either
    std::memcpy(path + 1, name.data() + 1, name.size());
    path[name.size()] = '\0';
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const_cast<volatile char&>(path[0]) = name[0];
  }
  void end() {
    const_cast<volatile char&>(path[0]) = '\0';
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};
UnfinishedFile unfinished_file;

/// An open file that is closed, and removed unless it was kept.
class OutputFile {
 public:
  OutputFile(std::string path, int flags, bool is_temporary)
      : path_(std::move(path)),
        is_announced_(announce(path_, is_temporary)),
        descriptor_(::open(path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)),
        reason_(descriptor_ < 0 ? errno : 0),
        is_temporary_(is_temporary && descriptor_ >= 0) {}
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (is_temporary_) ::unlink(path_.c_str());
    if (is_announced_) unfinished_file.end();
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The reason of the failure, or nothing. `text` is on the disk afterwards.
  std::optional<int> write(std::string_view text) {
    if (descriptor_ < 0) return reason_;
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0 && is_temporary_) return errno;  // devices need not support it
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    return closed == 0 ? std::nullopt : std::optional<int>(errno);
  }

  /// Gives the file its final name. Without `force` an existing file is kept (EEXIST).
  std::optional<int> move_to(const std::string& target, bool force) {
    const int moved =
        force ? ::rename(path_.c_str(), target.c_str())
              : ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE);
    if (moved != 0) return errno;
    is_temporary_ = false;
    return std::nullopt;
  }

  /// Why it could not be opened, or nothing.
  std::optional<int> reason() const {
    return descriptor_ < 0 ? std::optional<int>(reason_) : std::nullopt;
  }
  const std::string& path() const { return path_; }

 private:
  /// Before there is a file: a signal may come at once after.
  static bool announce(const std::string& path, bool is_temporary) {
    if (is_temporary) unfinished_file.begin(path);
    return is_temporary;
  }

  std::string path_;
  bool is_announced_;
  int descriptor_;
  int reason_;  ///< why it could not be opened
  bool is_temporary_;
};

/// Where a symbolic link leads; `path` itself when it is none or leads nowhere.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                        std::free);
  return resolved ? std::string(resolved.get()) : path;
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw Error("file-exists", {}, "'" + path + "' is there already and is not overwritten",
              "give --force to overwrite it, or another name");
}

/// What is to be written, and what is there already.
struct Destination {
  std::string path;    ///< as the user says it
  std::string target;  ///< where links lead
  bool exists = false;
  struct stat status = {};

  bool is_replaced() const { return !exists || S_ISREG(status.st_mode); }
  std::string temporary() const { return target + ".part-" + std::to_string(::getpid()); }
};

/// Refuses what can be told by its name.
Destination destination_of(const std::string& path, bool force) {
  Destination made{path, target_of(path)};
  made.exists = ::stat(made.target.c_str(), &made.status) == 0;
  if (made.exists && S_ISDIR(made.status.st_mode)) refuse(path, EISDIR);
  if (made.exists && made.is_replaced() && !force) refuse_existing(path);
  return made;
}

}  // namespace

void write_file(const std::string& path, const std::string& bytes, bool force) {
  const Destination to = destination_of(path, force);
  if (!to.is_replaced()) {  // a device or pipe
    OutputFile file(to.target, 0, false);
    if (const std::optional<int> reason = file.write(bytes)) refuse(path, *reason);
    return;
  }
  OutputFile file(to.temporary(), O_CREAT | O_EXCL, true);
  if (const std::optional<int> reason = file.write(bytes)) refuse(path, *reason);
  if (to.exists && ::chmod(file.path().c_str(), to.status.st_mode & 07777) != 0) {
    refuse(path, errno);
  }
  const std::optional<int> reason = file.move_to(to.target, force);
  if (reason == EEXIST) refuse_existing(path);
  if (reason) refuse(path, *reason);
}

void check_writable(const std::string& path, bool force) {
  const Destination to = destination_of(path, force);
  // Opening a pipe would wait for its reader, and end it when it is closed again.
  if (!to.is_replaced() && ::access(to.target.c_str(), W_OK) != 0) refuse(path, errno);
  if (!to.is_replaced()) return;
  const OutputFile file(to.temporary(), O_CREAT | O_EXCL, true);
  if (const std::optional<int> reason = file.reason()) refuse(path, *reason);
}

void remove_unfinished_file() noexcept {
  if (unfinished_file.path[0] != '\0') ::unlink(unfinished_file.path);
}

}  // namespace shard
