#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/diagnostic.h"
#include "checkpoint/safetensors.h"

namespace shard {
namespace {

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw Error("unwritable-file", {}, "'" + path + "' cannot be written: " + std::strerror(reason));
}

/// An open file that is closed, and removed unless it was kept.
class OutputFile {
 public:
  OutputFile(std::string path, int flags, bool is_temporary)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)),
        reason_(descriptor_ < 0 ? errno : 0),
        is_temporary_(is_temporary && descriptor_ >= 0) {}
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (is_temporary_) ::unlink(path_.c_str());
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

  const std::string& path() const { return path_; }

 private:
  std::string path_;
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

}  // namespace

void write_file(const std::string& path, const std::string& bytes, bool force) {
  const std::string target = target_of(path);
  struct stat status = {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {  // a device or pipe: nothing to replace
    OutputFile file(target, 0, false);
    if (const std::optional<int> reason = file.write(bytes)) refuse(path, *reason);
    return;
  }
  if (exists && !force) refuse_existing(path);
  OutputFile file(target + ".part-" + std::to_string(::getpid()), O_CREAT | O_EXCL, true);
  if (const std::optional<int> reason = file.write(bytes)) refuse(path, *reason);
  if (exists && ::chmod(file.path().c_str(), status.st_mode & 07777) != 0) refuse(path, errno);
  const std::optional<int> reason = file.move_to(target, force);
  if (reason == EEXIST) refuse_existing(path);
  if (reason) refuse(path, *reason);
}

}  // namespace shard
