#include "cli/find_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "base/diagnostic.h"

using namespace shard;
namespace fs = std::filesystem;

namespace {

/// A folder with `models/mlp.yaml`, `models/llama.yaml`; gone at the end.
class ShippedFolder {
 public:
  ShippedFolder() {
    std::string name = (fs::temp_directory_path() / "shard-plan-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    fs::create_directories(root_ / "models");
    std::ofstream(root_ / "models/mlp.yaml") << "name: mlp\n";
    std::ofstream(root_ / "models/llama.yaml") << "name: llama\n";
  }
  ~ShippedFolder() { fs::remove_all(root_); }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("a bare name is found among the shipped models") {
  const ShippedFolder folder;
  const std::string expected = (folder.root() / "models/mlp.yaml").string();
  CHECK(find_file("mlp", model_files, {folder.root()}) == expected);
  CHECK(find_file("mlp.yaml", model_files, {folder.root()}) == expected);
}

TEST_CASE("a file at the path that was typed comes first") {
  const ShippedFolder folder;
  const std::string path = (folder.root() / "models/llama.yaml").string();
  CHECK(find_file(path, model_files, {folder.root()}) == path);
  CHECK(find_file((folder.root() / "models/llama").string(), model_files, {}) == path);
}

TEST_CASE("a path that is not there is left to the reader") {
  CHECK(find_file("no/such.yaml", model_files, {}) == "no/such.yaml");
}

TEST_CASE("an unknown bare name is refused with the nearest") {
  const ShippedFolder folder;
  CHECK_THROWS_WITH_AS(
      (void)find_file("mpl", model_files, {folder.root()}),
      "command line: error: there is no model 'mpl' here or among those shipped [missing-file]\n"
      "  hint: did you mean 'mlp'? known: llama, mlp",
      Error);
}

TEST_CASE("the current folder is searched first") { CHECK(shipped_roots().front().empty()); }
