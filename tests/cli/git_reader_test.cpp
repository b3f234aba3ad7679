#include "cli/git_reader.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"

using namespace shard;

namespace {

namespace fs = std::filesystem;

/// A repository with two revisions of one file, removed at the end.
class Repository {
 public:
  Repository() {
    std::string pattern = (fs::temp_directory_path() / "shard-git-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    git({"init", "-q"});
    commit("old");
    commit("new");
  }
  ~Repository() { fs::remove_all(folder_); }
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string folder() const { return folder_.string(); }

 private:
  void git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", folder(), "-c", "user.name=a", "-c", "user.email=a@b",
                                 "-c", "commit.gpgsign=false"});
    const ProgramAnswer answer = run_program(words);
    REQUIRE_MESSAGE(answer.code == 0, answer.err);
  }
  void commit(const std::string& text) {
    fs::create_directories(folder_ / "rules");
    std::ofstream(folder_ / "rules" / "a b.yaml") << text;
    git({"add", "."});
    git({"commit", "-q", "-m", text});
  }

  fs::path folder_;
};

std::string id_of_error(const std::string& folder, const std::string& revision) {
  try {
    GitReader reader(folder, revision);
  } catch (const Error& error) {
    return error.diagnostics().front().id;
  }
  return "none";
}

}  // namespace

TEST_CASE("files are read as a revision has them") {
  const Repository repository;
  GitReader old(repository.folder(), "HEAD~1");
  CHECK(old.read(repository.path("rules/a b.yaml")) == "old");
  CHECK(old.read_start(repository.path("rules/a b.yaml"), 2) == "ol");
  GitReader now(repository.folder(), "HEAD");
  CHECK(now.read(repository.path("rules/../rules/a b.yaml")) == "new");
  CHECK_FALSE(now.read(repository.path("rules/none.yaml")));
  CHECK(now.list(repository.path("rules")) == std::vector<std::string>{"a b.yaml"});
  CHECK(now.list(repository.folder()) == std::vector<std::string>{"rules"});
  CHECK_THROWS_AS(now.read(repository.path("rules")), Error);
}

TEST_CASE("files outside of the repository are read from the disk") {
  const Repository repository;
  GitReader reader(repository.folder(), "HEAD");
  CHECK(reader.read(SHARD_SOURCE_DIR "/rules/dp.yaml").has_value());
}

TEST_CASE("what is no revision or no repository is told") {
  const Repository repository;
  CHECK(id_of_error(repository.folder(), "nowhere") == "unknown-revision");
  CHECK(id_of_error(repository.folder(), "--all") == "unknown-revision");
  CHECK(id_of_error("/", "HEAD") == "no-repository");
}

TEST_CASE("programs answer with both streams and their code") {
  const ProgramAnswer answer = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(answer.out == "out\n");
  CHECK(answer.err == "err\n");
  CHECK(answer.code == 3);
  const ProgramAnswer large = run_program({"sh", "-c", "seq 1 100000; seq 1 100000 >&2"});
  CHECK(large.out.size() == 588'895);
  CHECK(large.err.size() == 588'895);
  CHECK_THROWS_WITH_AS(run_program({"shard-plan-no-such-program"}),
                       "command line: error: 'shard-plan-no-such-program' cannot be run: No such "
                       "file or directory [missing-program]\n  hint: install it, or put it on the "
                       "path",
                       Error);
}
