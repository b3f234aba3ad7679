// Other programs' YAML, and files of which only the start is read.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "text/read.h"
#include "text/rendered.h"

namespace shard {

TEST_CASE("another program's duplicate key takes its last value with a warning") {
  const std::string text = "a: 1\nb: 2\na: {c: 3}\n";
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("m.yml", text);
  Diagnostics diagnostics;
  const TextNode root = read_foreign_yaml("m.yml", text, diagnostics);
  REQUIRE(root.entries.size() == 2);
  CHECK(root.entries[0].key == "a");
  CHECK(root.entries[0].key_at == Location{"m.yml", 3, 1, 1});
  CHECK(root.entries[0].value.find("c")->scalar == "3");
  CHECK(render(diagnostics.all(), sources) ==
        "m.yml:3:1: warning: key 'a' is given twice in this map [duplicate-key]\n"
        "    3 | a: {c: 3}\n"
        "      | ^\n"
        "  hint: it is given first in line 1; the value given last counts\n");
}

TEST_CASE("the last of many duplicate keys counts") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": 0\n";
  text += "k50: 1\nk50: 2\n";
  Diagnostics diagnostics;
  const TextNode root = read_foreign_yaml("m.yml", text, diagnostics);
  CHECK(root.entries.size() == 100);
  CHECK(root.find("k50")->scalar == "2");
  CHECK(diagnostics.all().size() == 2);
}

TEST_CASE("tags and cut calls of another program are not looked at") {
  Diagnostics diagnostics;
  const TextNode root =
      read_foreign_yaml("m.yml", "a: !include x.yaml\nb: {c: P(x, d: y)}\n", diagnostics);
  CHECK(root.find("a")->scalar == "x.yaml");
  CHECK(root.find("b")->find("c")->scalar == "P(x");
  CHECK(diagnostics.all().empty());
}

TEST_CASE("a file is known to be there without reading it") {
  MemoryReader reader({{"d/a.yml", "x"}, {"b.yml", "y"}});
  Sources sources(reader);
  CHECK(sources.has("d/a.yml"));
  CHECK(sources.has("b.yml"));
  CHECK_FALSE(sources.has("d/b.yml"));
  CHECK_FALSE(sources.has("e/a.yml"));
  sources.add("--set", "z");
  CHECK(sources.has("--set"));
}

TEST_CASE("only the start of a file is read") {
  MemoryReader memory(std::map<std::string, std::string>{{"a", "0123456789"}});
  CHECK(Sources(memory).start_of("a", 4) == "0123");
  CHECK(Sources(memory).start_of("a", 40) == "0123456789");
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "shard_start_of";
  std::ofstream(path) << std::string(200000, 'x') << "y";
  DiskReader disk;
  CHECK(Sources(disk).start_of(path.string(), 100000) == std::string(100000, 'x'));
  CHECK(Sources(disk).start_of(path.string(), 300000).size() == 200001);
  std::filesystem::remove(path);
  Sources sources(memory);
  CHECK(rendered(sources,
                 [&] {
                   sources.start_of("b", 1, {"f", 3, 1, 1});
                 }) ==
        "f:3:1: error: there is no file 'b' [missing-file]\n"
        "  hint: did you mean 'a'?\n");
}

}  // namespace shard
