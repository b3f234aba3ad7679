#pragma once
// Reading files: one interface with two implementations (the disk; a map in memory for tests), and
// the texts already read, so that the printer of diagnostics can show the line that is meant.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

/// Where texts come from. Paths are used as given in messages.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// The whole text, or nothing when there is no such file. A directory, an unreadable or too large
  /// file (over 1 GiB) throws `Error` (`unreadable-file`).
  virtual std::optional<std::string> read(const std::string& path) = 0;
  /// The first `bytes` bytes at most, of a file of any size; otherwise as `read`.
  virtual std::optional<std::string> read_start(const std::string& path, std::size_t bytes) = 0;
  /// Names of the files and folders in `folder`, sorted; empty when it cannot be listed.
  virtual std::vector<std::string> list(const std::string& folder) = 0;
};

class DiskReader : public FileReader {
 public:
  std::optional<std::string> read(const std::string& path) override;
  std::optional<std::string> read_start(const std::string& path, std::size_t bytes) override;
  std::vector<std::string> list(const std::string& folder) override;
};

class MemoryReader : public FileReader {
 public:
  explicit MemoryReader(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::optional<std::string> read(const std::string& path) override;
  std::optional<std::string> read_start(const std::string& path, std::size_t bytes) override;
  std::vector<std::string> list(const std::string& folder) override;

 private:
  std::map<std::string, std::string> files_;
};

/// The texts read so far by path.
class Sources {
 public:
  explicit Sources(FileReader& reader) : reader_(reader) {}

  /// Reads and keeps `path` (a byte order mark is dropped). The text stays where it is for the life
  /// of this object. Throws `Error` `missing-file` at `asked_at` when it is not there (with the
  /// nearest name of that folder when it can be listed), `empty-file` when it holds nothing but
  /// blanks and comments; what the reader throws gets `asked_at` as its place.
  const std::string& load(const std::string& path, const Location& asked_at = {});

  /// The first `bytes` bytes of a file of any size; they are not kept. Throws as `load` does.
  std::string start_of(const std::string& path, std::size_t bytes, const Location& asked_at = {});

  /// Whether `load` would find something under this name.
  bool has(const std::string& path) const;

  /// Keeps a text that has no file of its own (a command-line override) under a pseudo path such as
  /// `--set`.
  void add(const std::string& path, std::string text);

  /// Line `line` (from 1) of a text read before, without its newline; nothing when unknown.
  std::optional<std::string_view> line(const std::string& path, int line) const;

 private:
  std::string asked(const std::function<std::optional<std::string>()>& read,
                    const std::string& path, const Location& asked_at);

  FileReader& reader_;
  std::map<std::string, std::string> texts_;
};

/// A path as written in `file`: relative to the folder that file is in.
std::string beside(const std::string& file, const std::string& path);

/// The diagnostic as people read it; see `text/render.h`.
std::string render(const Diagnostic& diagnostic, const Sources& sources);

}  // namespace shard
