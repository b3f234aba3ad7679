#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "checkpoint/write_file.h"

using namespace shard;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that is removed with all that is in it.
struct Folder {
  fs::path path;

  Folder() {
    std::string name = (fs::temp_directory_path() / "shard-plan-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }

  std::string file(const std::string& name) const { return (path / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const std::string& path, const std::string& bytes, bool force) {
  try {
    write_file(path, bytes, force);
  } catch (const Error& error) {
    return to_string(error.diagnostics().front());
  }
  return "nothing was refused";
}

/// While it lives files may grow to `bytes` only: writing more fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower{bytes, limit_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &lower) == 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*before_)(int);
  rlimit limit_ = {};
};

}  // namespace

TEST_CASE("a written file holds the bytes and nothing else is left in the folder") {
  const Folder folder;
  const std::string bytes("a\0b\n", 4);
  write_file(folder.file("out"), bytes, false);
  CHECK(content(folder.file("out")) == bytes);
  CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("a file is overwritten only by force and keeps its permissions") {
  const Folder folder;
  const std::string path = folder.file("out");
  write_file(path, "old", false);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  CHECK(refusal(path, "new", false) ==
        "error: '" + path +
            "' is there already and is not overwritten [file-exists]\n"
            "  hint: give --force to overwrite it, or another name");
  CHECK(content(path) == "old");
  write_file(path, "new", true);
  CHECK(content(path) == "new");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("a symbolic link stays and its target is written") {
  const Folder folder;
  write_file(folder.file("target"), "old", false);
  fs::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new", true);
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(content(folder.file("target")) == "new");
}

TEST_CASE("a full device is reported with the system's words") {
  CHECK(refusal("/dev/full", "some bytes", false) ==
        "error: '/dev/full' cannot be written: No space left on device [unwritable-file]");
}

TEST_CASE("a failure in the middle of a file leaves the old file and nothing else") {
  const Folder folder;
  const std::string path = folder.file("out");
  write_file(path, "old", false);
  {
    const FileSizeLimit limit(1000);
    CHECK(refusal(path, std::string(5000, 'x'), true) ==
          "error: '" + path + "' cannot be written: File too large [unwritable-file]");
  }
  CHECK(content(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("missing folders and folders in place of files are refused") {
  const Folder folder;
  const std::string lost = folder.file("no/such/file");
  CHECK(refusal(lost, "x", false) ==
        "error: '" + lost + "' cannot be written: No such file or directory [unwritable-file]");
  CHECK(refusal(folder.path.string(), "x", true) == "error: '" + folder.path.string() +
                                                        "' cannot be written: Is a directory "
                                                        "[unwritable-file]");
}

TEST_CASE("devices are written to as they are") {
  CHECK_NOTHROW(write_file("/dev/null", "some bytes", false));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a process that ends within a write leaves nothing and nothing is lost") {
  const Folder folder;
  const std::string path = folder.file("out");
  write_file(path, "old", false);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {  // the signal comes when 1,000 bytes are written
    const rlimit limit{1000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, [](int) {
      remove_unfinished_file();
      _exit(130);
    });
    write_file(path, std::string(4000, 'x'), true);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(folder.names() == std::vector<std::string>{"out"});
  CHECK(content(path) == "old");
}

TEST_CASE("removing an unfinished file touches nothing between writes") {
  const Folder folder;
  write_file(folder.file("out"), "kept", false);
  remove_unfinished_file();
  CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("what cannot be written is refused before there is something to write") {
  const Folder folder;
  const auto refused = [&](const std::string& path, bool force) {
    try {
      check_writable(path, force);
    } catch (const Error& error) {
      return to_string(error.diagnostics().front());
    }
    return std::string("nothing was refused");
  };
  const std::string out = folder.file("out");
  CHECK(refused(out, false) == "nothing was refused");
  CHECK(folder.names().empty());
  write_file(out, "kept", false);
  CHECK(refused(out, true) == "nothing was refused");
  CHECK(refused(out, false) == "error: '" + out +
                                   "' is there already and is not overwritten [file-exists]\n"
                                   "  hint: give --force to overwrite it, or another name");
  CHECK(refused(folder.path.string(), true) ==
        "error: '" + folder.path.string() +
            "' cannot be written: Is a directory [unwritable-file]");
  CHECK(refused(folder.file("no/such"), false) ==
        "error: '" + folder.file("no/such") +
            "' cannot be written: No such file or directory [unwritable-file]");
  CHECK(refused("/dev/null", false) == "nothing was refused");
  CHECK(content(out) == "kept");
}
