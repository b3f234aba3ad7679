#include "text/write_yaml.h"

#include <doctest/doctest.h>

#include <random>

#include "text/read.h"

namespace shard {
namespace {

std::string rewritten(const std::string& text, int block_depth) {
  return write_yaml(read_yaml("m.yaml", text), block_depth);
}

TextNode scalar(std::string text, bool quoted) {
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

// Trees that are hard to write: awkward texts, empty containers, deep nesting.
TextNode random_tree(std::mt19937_64& rng, int depth) {
  static const std::vector<std::string> texts = {"a",
                                                 "P(None, model)",
                                                 "f32[batch@data, embed]",
                                                 "x: y",
                                                 "- b",
                                                 " lead",
                                                 "trail ",
                                                 "",
                                                 "null",
                                                 "~",
                                                 "'q'",
                                                 "#c",
                                                 "a #b",
                                                 "é\n\t",
                                                 "-1",
                                                 "<<",
                                                 "a:",
                                                 "[x",
                                                 "{x",
                                                 "?",
                                                 "---",
                                                 "*x",
                                                 "1e-3",
                                                 "a,b"};
  const std::uint64_t kind = depth >= 5 ? rng() % 2 : rng() % 5;
  TextNode node;
  if (kind == 0) return node;
  // Only what YAML can hold plain may claim to be plain.
  if (kind == 1) {
    const std::string& text = texts[rng() % texts.size()];
    const TextNode plain = scalar(text, false);
    const bool can_be_plain = write_yaml(plain).front() != '"';
    return scalar(text, !can_be_plain || rng() % 2 == 0);
  }
  node.kind = kind < 4 ? TextNode::Kind::map : TextNode::Kind::sequence;
  const std::uint64_t count = rng() % 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (node.is_sequence()) {
      node.items.push_back(random_tree(rng, depth + 1));
    } else {
      node.entries.push_back(
          {texts[rng() % texts.size()] + std::to_string(i), {}, random_tree(rng, depth + 1)});
    }
  }
  return node;
}

}  // namespace

TEST_CASE("write_yaml writes block form down to the given depth") {
  const std::string text = "{a: {x: 1, y: [1, {z: ~}]}, b: [], c: {}, d: \"q\"}";
  CHECK(rewritten(text, 6) ==
        "a:\n"
        "  x: 1\n"
        "  y:\n"
        "    - 1\n"
        "    - z: null\n"
        "b: []\n"
        "c: {}\n"
        "d: \"q\"\n");
  CHECK(rewritten(text, 1) ==
        "a: {x: 1, y: [1, {z: null}]}\n"
        "b: []\n"
        "c: {}\n"
        "d: \"q\"\n");
}

TEST_CASE("a list in a list starts on the line of its item") {
  CHECK(rewritten("[[batch, data], [{a: 1, b: 2}, x]]", 6) ==
        "- - batch\n"
        "  - data\n"
        "- - a: 1\n"
        "    b: 2\n"
        "  - x\n");
}

TEST_CASE("a plain spec stays plain in block form") {
  CHECK(rewritten("- {k: \"P(None, model)\"}\n- k: P(None, model)\n- k: P(data)\n", 1) ==
        "- k: \"P(None, model)\"\n"
        "- k: P(None, model)\n"
        "- k: P(data)\n");
}

TEST_CASE("write_yaml_flow writes everything in one line") {
  CHECK(write_yaml_flow(read_yaml("m.yaml", "a:\n  - b: P(x, y)\n  - c: {}\n")) ==
        "{a: [{b: \"P(x, y)\"}, {c: {}}]}");
}

TEST_CASE("lines of YAML know where what they say was written") {
  const auto lines =
      write_yaml_lines(read_yaml("m.yaml", "b: {x: 1,\n    y: 2}\na:\n  - p\n  - q\n"),
                       [](const TextNode&, int) { return false; });
  std::string text;
  for (const YamlLine& line : lines) text += line.text + "  # " + to_string(line.at) + "\n";
  CHECK(text ==
        "b:  # m.yaml:1:1\n"
        "  x: 1  # m.yaml:1:5\n"
        "  y: 2  # m.yaml:2:5\n"
        "a:  # m.yaml:3:1\n"
        "  - p  # m.yaml:4:5\n"
        "  - q  # m.yaml:5:5\n");
}

TEST_CASE("written trees read back equal at every block depth") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const TextNode tree = random_tree(rng, 0);
    for (const int depth : {0, 1, 2, 6}) {
      const std::string text = write_yaml(tree, depth);
      CAPTURE(text);
      CHECK(same_content(read_yaml("m.yaml", text), tree));
    }
  }
}

}  // namespace shard
