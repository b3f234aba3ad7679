#include "text/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "text/rendered.h"

namespace shard {
namespace {

/// A folder of its own that goes away with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "shard_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("DiskReader reads whole files and says nothing for missing ones") {
  const ScratchFolder folder;
  const std::string text = "a: 1\n" + std::string(200000, 'x') + "\n";
  folder.write("m.yaml", text);
  DiskReader reader;
  CHECK(reader.read(folder.path("m.yaml")) == text);
  CHECK(reader.read(folder.path("n.yaml")) == std::nullopt);
  CHECK(reader.read(folder.path("m.yaml/x")) == std::nullopt);
  CHECK(reader.list(folder.path("")) == std::vector<std::string>{"m.yaml"});
  CHECK(reader.list(folder.path("nowhere")).empty());
}

TEST_CASE("a folder cannot be read as a file") {
  const ScratchFolder folder;
  DiskReader reader;
  Sources sources(reader);
  const std::string path = folder.path("");
  CHECK(rendered(sources, [&] { sources.load(path); }) ==
        "error: cannot read '" + path + "': it is a folder [unreadable-file]\n");
}

TEST_CASE("a file without permission cannot be read") {
  if (::geteuid() == 0) {
    MESSAGE("not tried: root reads every file");
    return;
  }
  const ScratchFolder folder;
  folder.write("m.yaml", "a: 1\n");
  ::chmod(folder.path("m.yaml").c_str(), 0);
  DiskReader reader;
  Sources sources(reader);
  CHECK(rendered(sources, [&] { sources.load(folder.path("m.yaml")); }) ==
        "error: cannot read '" + folder.path("m.yaml") +
            "': Permission denied [unreadable-file]\n");
}

TEST_CASE("a file that is too large is refused before it fills memory") {
  const ScratchFolder folder;
  folder.write("m.yaml", "a");
  std::filesystem::resize_file(folder.path("m.yaml"), (std::uintmax_t{1} << 30U) + 1);
  DiskReader reader;
  Sources sources(reader);
  CHECK(rendered(sources, [&] { sources.load(folder.path("m.yaml")); }) ==
        "error: cannot read '" + folder.path("m.yaml") +
            "': it is larger than 1 GiB [unreadable-file]\n");
}

TEST_CASE("a missing file is answered with the nearest name beside it") {
  MemoryReader reader({{"models/guide_mlp.yaml", "a: 1"}, {"models/mlp.yaml", "b: 1"}});
  Sources sources(reader);
  sources.add("top.yaml", "base: models/guide_mpl.yaml\n");
  CHECK(rendered(sources,
                 [&] {
                   sources.load("models/guide_mpl.yaml", {"top.yaml", 1, 7, 21});
                 }) ==
        "top.yaml:1:7: error: there is no file 'models/guide_mpl.yaml' [missing-file]\n"
        "    1 | base: models/guide_mpl.yaml\n"
        "      |       ^~~~~~~~~~~~~~~~~~~~~\n"
        "  hint: did you mean 'models/guide_mlp.yaml'?\n");
  CHECK(rendered(sources, [&] { sources.load("models/mlp"); }) ==
        "error: there is no file 'models/mlp' [missing-file]\n"
        "  hint: did you mean 'models/mlp.yaml'?\n");
  CHECK(rendered(sources, [&] { sources.load("model/mlp.yaml"); }) ==
        "error: there is no file 'model/mlp.yaml' [missing-file]\n"
        "  hint: there is no folder 'model', or nothing in it\n");
  CHECK(rendered(sources, [&] { sources.load("models/zzz.yaml"); }) ==
        "error: there is no file 'models/zzz.yaml' [missing-file]\n");
}

TEST_CASE("a file that says nothing is refused") {
  MemoryReader reader({{"a.yaml", ""}, {"b.yaml", "# only\n\n  # comments\n---\n"}, {"c", "x"}});
  Sources sources(reader);
  CHECK(rendered(sources, [&] { sources.load("a.yaml"); }) ==
        "a.yaml: error: the file holds nothing but blanks and comments [empty-file]\n");
  CHECK(rendered(sources, [&] { sources.load("b.yaml"); }) ==
        "b.yaml: error: the file holds nothing but blanks and comments [empty-file]\n");
  CHECK(sources.load("c") == "x");
}

TEST_CASE("Sources gives back single lines of what it read") {
  MemoryReader reader({{"a.yaml", "\xEF\xBB\xBFone\r\ntwo\n\nfour"}, {"other", ""}});
  Sources sources(reader);
  sources.load("a.yaml");
  CHECK(sources.line("a.yaml", 1) == "one");
  CHECK(sources.line("a.yaml", 2) == "two");
  CHECK(sources.line("a.yaml", 3) == "");
  CHECK(sources.line("a.yaml", 4) == "four");
  CHECK(sources.line("a.yaml", 5) == std::nullopt);
  CHECK(sources.line("a.yaml", 0) == std::nullopt);
  CHECK(sources.line("b.yaml", 1) == std::nullopt);
}

}  // namespace shard
