#pragma once
// Files as a revision of a git repository has them.

#include <string>
#include <vector>

#include "text/files.h"

namespace shard {

/// What a program answered.
struct ProgramAnswer {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs a program without a shell and waits for it. Throws `Error` `missing-program` when there is
/// none of that name.
ProgramAnswer run_program(const std::vector<std::string>& words);

/// Reads files of one commit. Paths are as on the disk; those outside of the repository are read
/// from the disk, since no revision has them.
class GitReader : public FileReader {
 public:
  /// The repository that has `folder`. Throws `Error`: `missing-program`, `no-repository`,
  /// `unknown-revision`.
  GitReader(const std::string& folder, const std::string& revision);

  std::optional<std::string> read(const std::string& path) override;
  std::optional<std::string> read_start(const std::string& path, std::size_t bytes) override;
  std::vector<std::string> list(const std::string& folder) override;

 private:
  /// The path inside the repository; nothing when it is outside.
  std::optional<std::string> inside(const std::string& path) const;

  std::string root_;
  std::string commit_;
  DiskReader disk_;
};

}  // namespace shard
