#include "dialects/rule_list.h"

#include <doctest/doctest.h>

#include "dialects/importing.h"
#include "text/read.h"

namespace shard {
namespace {

const std::string mesh_missing =
    "r: note: the text says nothing about the mesh [mesh-missing]\n"
    "  hint: give it: --mesh data=8\n";

std::string pasted(const std::string& text) { return imported("r", {{"r", text}}); }

}  // namespace

TEST_CASE("targets are an axis or a list of them or nothing or unconstrained") {
  CHECK(pasted("[('a', 'x'), ('b', ('x', 'y')), ('c', ['x']), ('d', None), ('e', ()), ('f', []),\n"
               " ('g', P('x', 'y')), ('h', tuple(['x'])), ('i', P.UNCONSTRAINED)]") ==
        ""
        "rules:\n"
        "  - [a, x]\n"
        "  - [b, [x, y]]\n"
        "  - [c, x]\n"
        "  - [d, null]\n"
        "  - [e, null]\n"
        "  - [f, null]\n"
        "  - [g, [x, y]]\n"
        "  - [h, x]\n"
        "  - [i, UNCONSTRAINED]\n" +
            mesh_missing);
}

TEST_CASE("pasted YAML lists are read with their bare words") {
  CHECK(pasted("[[batch, [data, fsdp]], [embed, null]]\n") ==
        "rules:\n  - [batch, [data, fsdp]]\n  - [embed, null]\n" + mesh_missing);
}

TEST_CASE("each rule that is no pair is named") {
  CHECK(
      pasted("[('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
             "{'x'})]") ==
      "r:1:2: error: a rule is a list of 3, expected a pair [logical axis, mesh axes] [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |  ^\n"
      "  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]\n"
      "r:1:19: error: a rule is 'ab', expected a pair [logical axis, mesh axes] [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                   ^~~~\n"
      "  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]\n"
      "r:1:25: error: a rule is a list of 1, expected a pair [logical axis, mesh axes] [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                         ^\n"
      "  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]\n"
      "r:1:34: error: the name of a rule is '1', expected a logical axis [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                                  ^\n"
      "  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]\n"
      "r:1:49: error: the target of a rule is '2', expected a mesh axis, a list of them, "
      "UNCONSTRAINED or null [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                                                 ^\n"
      "r:1:59: error: the target of a rule is 'true', expected a mesh axis, a list of them, "
      "UNCONSTRAINED or null [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                                                           ^~~~\n"
      "r:1:67: error: the name of a rule is '', expected a logical axis [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                                                                   ^~\n"
      "  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]\n"
      "r:1:83: error: a set has no order [bad-rule]\n"
      "    1 | [('a', 'b', 'c'), 'ab', ('a',), (1, 'x'), ('a', 2), ('a', True), ('', 'x'), ('a', "
      "{'x'})]\n"
      "      |                                                                                   "
      "^\n"
      "  hint: write a tuple or a list\n");
}

TEST_CASE("code and bytes and control characters in rules are refused") {
  CHECK(pasted("[('a', cfg.axis), ('b', f()), ('c', b'x'), ('d\\t', 'x')]") ==
        "r:1:8: error: 'cfg.axis' is a variable, expected a literal value [not-a-literal]\n"
        "    1 | [('a', cfg.axis), ('b', f()), ('c', b'x'), ('d\\t', 'x')]\n"
        "      |        ^~~~~~~~\n"
        "  hint: paste the value that Python prints for it\n"
        "r:1:25: error: 'f(...)' is code, expected a literal value [not-a-literal]\n"
        "    1 | [('a', cfg.axis), ('b', f()), ('c', b'x'), ('d\\t', 'x')]\n"
        "      |                         ^\n"
        "  hint: paste the value that Python prints for it\n"
        "r:1:37: error: b'x' is bytes, expected a text [bad-rule]\n"
        "    1 | [('a', cfg.axis), ('b', f()), ('c', b'x'), ('d\\t', 'x')]\n"
        "      |                                     ^~~~\n"
        "r:1:45: error: a name has a control character in it [bad-rule]\n"
        "    1 | [('a', cfg.axis), ('b', f()), ('c', b'x'), ('d\\t', 'x')]\n"
        "      |                                             ^~~~~\n");
}

TEST_CASE("rules in a map are refused because their order counts") {
  CHECK(pasted("rules = {'batch': 'data'}") ==
        "r:1:9: error: Unknown axis rule specification type: the rules are a map, expected a list "
        "of pairs [bad-rule]\n"
        "    1 | rules = {'batch': 'data'}\n"
        "      |         ^\n"
        "  hint: a map has no order, and the order of rules counts: write [[batch, data], [embed, "
        "null]]\n");
  CHECK(pasted("rules = 3") ==
        "r:1:9: error: Unknown axis rule specification type: the rules are '3', expected a list of "
        "pairs [bad-rule]\n"
        "    1 | rules = 3\n"
        "      |         ^\n");
}

TEST_CASE("letters that only look like ASCII are warned of") {
  CHECK(pasted("[('b\xD0\xB0tch', 'data')]") ==
        "rules:\n  - [\"b\xD0\xB0tch\", data]\n"
        "r:1:3: warning: the name 'b\xD0\xB0tch' has the letter '\xD0\xB0' (U+0430), which is "
        "not ASCII [look-alike-name]\n"
        "    1 | [('b\xD0\xB0tch', 'data')]\n"
        "      |   ^~~~~~~\n"
        "  hint: it never equals a name typed with the letter it looks like\n" +
            mesh_missing);
}

TEST_CASE("the word None in YAML is read as null with a warning") {
  CHECK(imported("r.yml", {{"r.yml",
                            "mesh_axes: [fsdp]\nici_fsdp_parallelism: 2\n"
                            "logical_axis_rules: [[a, None]]\n"}}) ==
        "mesh: {fsdp: 2}\nrules:\n  - [a, null]\n"
        "r.yml:3:26: warning: None is read as null; in YAML it is a text, which a framework would "
        "take for a mesh axis called 'None' [none-is-text]\n"
        "    3 | logical_axis_rules: [[a, None]]\n"
        "      |                          ^~~~\n"
        "  hint: write null or []\n");
}

TEST_CASE("mesh axes that are no names are refused") {
  CHECK(imported("r.yml", {{"r.yml", "mesh_axes: [fsdp, 3, []]\nlogical_axis_rules: []\n"}}) ==
        "r.yml:1:19: error: a mesh axis is '3', expected a name [bad-mesh-axis]\n"
        "    1 | mesh_axes: [fsdp, 3, []]\n"
        "      |                   ^\n"
        "r.yml:1:22: error: a mesh axis is a list, expected a name [bad-mesh-axis]\n"
        "    1 | mesh_axes: [fsdp, 3, []]\n"
        "      |                      ^\n");
}

TEST_CASE("ten thousand rules are read") {
  std::string text = "[";
  for (int i = 0; i < 10000; ++i) text += "('n" + std::to_string(i) + "', 'data'),\n";
  Diagnostics diagnostics;
  const TextNode list = to_tree(read_python_literal("r", text + "]"), diagnostics);
  const std::vector<RuleConfig> rules = read_rule_list(list, diagnostics);
  REQUIRE(rules.size() == 10000);
  CHECK(rules.back().logical == LogicalAxis("n9999"));
  CHECK(rules.back().at == Location{"r", 10000, 1, 1});
  CHECK(diagnostics.all().empty());
}

}  // namespace shard
