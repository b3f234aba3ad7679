#include <doctest/doctest.h>

#include <algorithm>

#include "text/read.h"
#include "text/rendered.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

std::string refused_yaml(const std::string& text) {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("m.yaml", text);
  return rendered(sources, [&] { read_yaml("m.yaml", text); });
}

Location in_yaml(int line, int column, int length = 1) { return {"m.yaml", line, column, length}; }

}  // namespace

TEST_CASE("read_yaml places every key and value") {
  const TextNode root = read_yaml("m.yaml",
                                  "name: mlp\n"
                                  "sizes: {batch: 8, 'em': \"x\"}\n"
                                  "layers:\n"
                                  "  - relu\n"
                                  "  - dense: hidden\n");
  CHECK(root.entries[0].key_at == in_yaml(1, 1, 4));
  CHECK(root.entries[0].value.at == in_yaml(1, 7, 3));
  const TextNode& sizes = *root.find("sizes");
  CHECK(sizes.at == in_yaml(2, 8));
  CHECK(sizes.entries[0].key_at == in_yaml(2, 9, 5));
  CHECK(sizes.entries[0].value.at == in_yaml(2, 16, 1));
  CHECK(sizes.entries[1].key_at == in_yaml(2, 19, 4));
  CHECK(sizes.entries[1].value.at == in_yaml(2, 25, 3));
  CHECK(sizes.entries[1].value.quoted);
  CHECK(content_at(sizes.entries[1].value) == in_yaml(2, 26, 1));
  const TextNode& layers = *root.find("layers");
  CHECK(layers.items[0].at == in_yaml(4, 5, 4));
  CHECK(layers.items[1].at == in_yaml(5, 5));
  CHECK(layers.items[1].find("dense")->at == in_yaml(5, 12, 6));
}

TEST_CASE("a null stands where it is written or at its key") {
  const TextNode root = read_yaml("m.yaml", "a: ~\nb:\nc: null\nd: None\ne: 'null'\n");
  CHECK(root.find("a")->is_null());
  CHECK(root.find("a")->at == in_yaml(1, 4));
  CHECK(root.find("b")->is_null());
  CHECK(root.find("b")->at == in_yaml(2, 1));
  CHECK(root.find("c")->at == in_yaml(3, 4, 4));
  CHECK(root.find("d")->is_scalar());
  CHECK(root.find("e")->is_scalar());
}

TEST_CASE("aliases repeat what their anchors mark") {
  const TextNode root = read_yaml("m.yaml", "a: &k {x: [1, 2]}\nb: *k\nc: &n 5\nd: *n\n");
  CHECK(same_content(*root.find("a"), *root.find("b")));
  CHECK(root.find("a")->at == in_yaml(1, 7));
  CHECK(root.find("b")->at == in_yaml(1, 7));
  CHECK(root.find("d")->scalar == "5");
  CHECK(root.find("d")->at == in_yaml(3, 7));
}

TEST_CASE("a byte order mark and Windows line ends change nothing") {
  const TextNode plain = read_yaml("m.yaml", "a: 1\nb: [x, y]\n");
  const TextNode marked = read_yaml("m.yaml",
                                    "\xEF\xBB\xBF"
                                    "a: 1\r\nb: [x, y]\r\n");
  CHECK(same_content(plain, marked));
  CHECK(marked.find("b")->at == in_yaml(2, 4));
}

TEST_CASE("every duplicate key is reported in one run") {
  CHECK(refused_yaml("a: 1\nb: {x: 1, x: 2}\na: 3\n") ==
        "m.yaml:2:11: error: key 'x' is given twice in this map [duplicate-key]\n"
        "    2 | b: {x: 1, x: 2}\n"
        "      |           ^\n"
        "  hint: it is given first in line 2; keep one of the two\n"
        "m.yaml:3:1: error: key 'a' is given twice in this map [duplicate-key]\n"
        "    3 | a: 3\n"
        "      | ^\n"
        "  hint: it is given first in line 1; keep one of the two\n");
}

TEST_CASE("a duplicate in a map with many keys is found") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": 1\n";
  CHECK(refused_yaml(text) == "no error\n");
  CHECK(refused_yaml(text + "k42: 2\n") ==
        "m.yaml:101:1: error: key 'k42' is given twice in this map [duplicate-key]\n"
        "  101 | k42: 2\n"
        "      | ^~~\n"
        "  hint: it is given first in line 43; keep one of the two\n");
}

TEST_CASE("a tab in the indentation is refused") {
  CHECK(refused_yaml("a:\n\tb: 1\n\t c: 2\n \td: 3\n") ==
        "m.yaml:2:1: error: a tab indents this line (and in 2 more lines) [yaml-tab]\n"
        "    2 | \tb: 1\n"
        "      | ^\n"
        "  hint: YAML is indented with spaces\n");
  CHECK(refused_yaml("a: 1\t# a tab elsewhere\n\t\n\t# and here\n") == "no error\n");
}

TEST_CASE("the merge key is refused with the way that works here") {
  CHECK(refused_yaml("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n") ==
        "m.yaml:3:3: error: '<<' is not read here [merge-key]\n"
        "    3 |   <<: *a\n"
        "      |   ^~\n"
        "  hint: build on a file with `base: FILE` and change single values with `set:`\n");
}

TEST_CASE("an unquoted spec inside brackets is told to be quoted") {
  CHECK(refused_yaml("d: {kernel: P(None, model), bias: P((a, b), c)}\nl: [P('x', \"y\")]\n") ==
        "m.yaml:1:13: error: 'P(None, model)' is not quoted, and inside { } and [ ] YAML cuts it "
        "[yaml-syntax]\n"
        "    1 | d: {kernel: P(None, model), bias: P((a, b), c)}\n"
        "      |             ^~~~~~~~~~~~~~\n"
        "  hint: quote it: \"P(None, model)\"\n"
        "m.yaml:1:35: error: 'P((a, b), c)' is not quoted, and inside { } and [ ] YAML cuts it "
        "[yaml-syntax]\n"
        "    1 | d: {kernel: P(None, model), bias: P((a, b), c)}\n"
        "      |                                   ^~~~~~~~~~~~\n"
        "  hint: quote it: \"P((a, b), c)\"\n"
        "m.yaml:2:5: error: 'P('x', \"y\")' is not quoted, and inside { } and [ ] YAML cuts it "
        "[yaml-syntax]\n"
        "    2 | l: [P('x', \"y\")]\n"
        "      |     ^~~~~~~~~~~\n"
        "  hint: quote it: 'P('x', \"y\")'\n");
}

TEST_CASE("an unquoted type inside brackets is told to be quoted") {
  CHECK(refused_yaml("inputs: {x: f32[batch, embed], y: 1}\n") ==
        "m.yaml:1:13: error: 'f32[batch, embed]' is not quoted, and inside { } and [ ] YAML cuts "
        "it [yaml-syntax]\n"
        "    1 | inputs: {x: f32[batch, embed], y: 1}\n"
        "      |             ^~~~~~~~~~~~~~~~~\n"
        "  hint: quote it: \"f32[batch, embed]\"\n");
  CHECK(refused_yaml("x: [batch, mlp@(model, data)]\n") ==
        "m.yaml:1:12: error: 'mlp@(model, data)' is not quoted, and inside { } and [ ] YAML cuts "
        "it [yaml-syntax]\n"
        "    1 | x: [batch, mlp@(model, data)]\n"
        "      |            ^~~~~~~~~~~~~~~~~\n"
        "  hint: quote it: \"mlp@(model, data)\"\n");
  CHECK(refused_yaml("x: [P(data), P()]\ny: P(None, model)\nz: f32[batch, embed]\n") ==
        "no error\n");
}

TEST_CASE("syntax errors have the parser's place and words and a hint") {
  CHECK(refused_yaml("a: 1\nb: c: d\n") ==
        "m.yaml:2:5: error: illegal map value [yaml-syntax]\n"
        "    2 | b: c: d\n"
        "      |     ^\n"
        "  hint: a key ends with ': ' (a blank after the colon); quote a value that holds ': '\n");
  CHECK(refused_yaml("layers:\n  - dense: {features: hidden\n  - relu\n") ==
        "m.yaml:2:12: error: end of map flow not found [yaml-syntax]\n"
        "    2 |   - dense: {features: hidden\n"
        "      |            ^\n"
        "  hint: a '}' or a ',' is missing\n");
  CHECK(refused_yaml("a: [1, 2\n") ==
        "m.yaml:1:4: error: end of sequence flow not found [yaml-syntax]\n"
        "    1 | a: [1, 2\n"
        "      |    ^\n"
        "  hint: a ']' or a ',' is missing\n");
  CHECK(refused_yaml("a: @x\n") ==
        "m.yaml:1:4: error: unknown token [yaml-syntax]\n"
        "    1 | a: @x\n"
        "      |    ^~\n"
        "  hint: quote a value that starts with this character\n");
  CHECK(refused_yaml("a: *nope\n") ==
        "m.yaml:1:4: error: the referenced anchor is not defined [yaml-syntax]\n"
        "    1 | a: *nope\n"
        "      |    ^~~~~\n");
  CHECK(refused_yaml("a: 'x' y\n") ==
        "m.yaml:1:8: error: end of map not found [yaml-syntax]\n"
        "    1 | a: 'x' y\n"
        "      |        ^\n"
        "  hint: check the indentation: this line fits no map above it\n");
}

TEST_CASE("what yaml-cpp lets pass is refused all the same") {
  CHECK(refused_yaml("a: \"never closed\nb: 2\n") ==
        "m.yaml:1:4: error: this quote is never closed [yaml-syntax]\n"
        "    1 | a: \"never closed\n"
        "      |    ^\n");
  CHECK(refused_yaml("- a\nb: 2\n") ==
        "m.yaml:2:1: error: this line does not continue what stands above it [yaml-syntax]\n"
        "    2 | b: 2\n"
        "      | ^\n"
        "  hint: check its indentation\n");
  CHECK(refused_yaml("a: 1\n---\nb: 2\n") ==
        "m.yaml:2:1: error: a second document starts here [not-a-document]\n"
        "    2 | ---\n"
        "      | ^~~\n"
        "  hint: a file holds one document; put the other one in a file of its own\n");
  CHECK(refused_yaml("k: &y [1, *y]\n") ==
        "m.yaml:1:11: error: the alias stands inside the value it repeats [yaml-syntax]\n"
        "    1 | k: &y [1, *y]\n"
        "      |           ^~\n");
  CHECK(refused_yaml("? [a, b]\n: c\n") ==
        "m.yaml:1:3: error: a key is a list, expected a word [yaml-syntax]\n"
        "    1 | ? [a, b]\n"
        "      |   ^\n");
  CHECK(refused_yaml("~: c\n") ==
        "m.yaml:1:1: error: a key is missing, expected a word [yaml-syntax]\n"
        "    1 | ~: c\n"
        "      | ^\n");
  CHECK(refused_yaml("a: &k x\nb: {*k : 1}\n") ==
        "m.yaml:2:5: error: a key is an alias, expected a word [yaml-syntax]\n"
        "    2 | b: {*k : 1}\n"
        "      |     ^~\n");
  CHECK(refused_yaml("a: !foo 5\nb: !!str 5\n") ==
        "m.yaml:1:9: error: the tag '!foo' is not read here [yaml-syntax]\n"
        "    1 | a: !foo 5\n"
        "      |         ^\n"
        "  hint: remove it\n");
  CHECK(refused_yaml("a: \xFF\n") ==
        "m.yaml:1:4: error: this byte is not UTF-8 text [yaml-syntax]\n"
        "    1 | a: \xFF\n"
        "      |    ^\n"
        "  hint: is it a YAML file?\n");
}

TEST_CASE("nesting is limited also through aliases") {
  CHECK(refused_yaml("a: " + std::string(101, '[') + std::string(101, ']')) ==
        "m.yaml:1:103: error: lists and maps are nested more than 100 deep here [too-deep]\n"
        "    1 | ..." +
            std::string(42, '[') + std::string(78, ']') + "...\n" + "      | " +
            std::string(43, ' ') + "^\n");
  CHECK(refused_yaml("a: " + std::string(5000, '[')) ==
        "m.yaml:1:5: error: this bracket is never closed [yaml-syntax]\n"
        "    1 | a: " +
            std::string(117, '[') + "...\n" + "      |     ^\n");
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    const std::string number = std::to_string(i);
    chain += "a" + number + ": &a" + number + " [*a" + std::to_string(i - 1) + "]\n";
  }
  CHECK(refused_yaml(chain) ==
        "m.yaml:100:12: error: with this alias lists and maps are nested more than 100 deep "
        "[too-deep]\n"
        "  100 | a99: &a99 [*a98]\n"
        "      |            ^~~~\n");
}

TEST_CASE("aliases that multiply are stopped before memory ends") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "" : ", ") + before;
    bomb += "]\n";
  }
  CHECK(refused_yaml(bomb) ==
        "m.yaml:7:20: error: the file has more than 4000000 values [too-large]\n"
        "    7 | a6: &a6 [*a5, *a5, *a5, *a5, *a5, *a5, *a5, *a5, *a5, *a5]\n"
        "      |                    ^~~\n"
        "  hint: aliases count as often as they are used\n");
}

}  // namespace shard
