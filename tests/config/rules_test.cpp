#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("a rules file has a mesh and rules in order") {
  CHECK(TestFiles(R"(mesh: {data: 2, fsdp: 4, tensor: 1_024}
rules:
  - [batch, [data, fsdp]]
  - [embed, fsdp]
  - [embed, null]
  - [mlp, ~]
  - [heads, None]
  - [kv, UNCONSTRAINED]
  - [vocab, []]
  - ["8", "tensor"]
rules_for:
  optimizer: [[embed, [fsdp, data]]]
  inputs: []
unmatched: no-constraint
devices: cpu-8
axis_types: auto
resolver: linen
misfit: error
)")
            .rules() ==
        R"(m from m.yaml unmatched no-constraint devices cpu-8
mesh data=2 fsdp=4 tensor=1024
rules
  batch -> data+fsdp@3:5
  embed -> fsdp@4:5
  embed -> None@5:5
  mlp -> None@6:5
  heads -> None@7:5
  kv -> UNCONSTRAINED@8:5
  vocab -> None@9:5
  8 -> tensor@10:5
rules for optimizer
  embed -> fsdp+data@12:15
rules for inputs
resolver linen
misfit error
axis type of all auto
)");
}

TEST_CASE("a mesh alone is a rules file") {
  CHECK(TestFiles("mesh: {}\n").rules() ==
        R"(m from m.yaml unmatched unsharded
mesh
rules
)");
  CHECK(TestFiles(R"(mesh: {data: 8}
rules:
)")
            .rules() ==
        R"(m from m.yaml unmatched unsharded
mesh data=8
rules
)");
}

TEST_CASE("a rule that is no pair of a name and axes is refused") {
  CHECK(
      TestFiles(R"y(mesh: {data: 2}
rules:
  - [hidden]
  - [hidden, model, x]
  - batch
  - {batch: data}
  - [8, data]
  - [true, data]
  - [null, data]
  - [a, [data, null]]
  - [a, P(data)]
  - [a, [data, [model]]]
  - [a, {b: c}]
  - [a, 3]
)y")
          .rules() ==
      R"y(m.yaml:3:5: error: a rule is a list of 1, expected a pair [logical axis, mesh axes] [bad-rule]
    3 |   - [hidden]
      |     ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:4:5: error: a rule is a list of 3, expected a pair [logical axis, mesh axes] [bad-rule]
    4 |   - [hidden, model, x]
      |     ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:5:5: error: a rule is 'batch', expected a pair [logical axis, mesh axes] [bad-rule]
    5 |   - batch
      |     ^~~~~
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:6:5: error: a rule is a map, expected a pair [logical axis, mesh axes] [bad-rule]
    6 |   - {batch: data}
      |     ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:7:6: error: the name of a rule is '8', expected a logical axis [bad-rule]
    7 |   - [8, data]
      |      ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:8:6: error: the name of a rule is 'true', expected a logical axis [bad-rule]
    8 |   - [true, data]
      |      ^~~~
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:9:6: error: the name of a rule is nothing, expected a logical axis [bad-rule]
    9 |   - [null, data]
      |      ^~~~
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:10:16: error: the target of a rule is nothing, expected a mesh axis, a list of them, UNCONSTRAINED or null [bad-rule]
   10 |   - [a, [data, null]]
      |                ^~~~
m.yaml:11:9: error: the target of a rule is 'P(data)', expected a mesh axis, a list of them, UNCONSTRAINED or null [bad-rule]
   11 |   - [a, P(data)]
      |         ^~~~~~~
  hint: a rule takes bare names: [data, model]
m.yaml:12:16: error: the target of a rule is a list, expected a mesh axis, a list of them, UNCONSTRAINED or null [bad-rule]
   12 |   - [a, [data, [model]]]
      |                ^
m.yaml:13:9: error: the target of a rule is a map, expected a mesh axis, a list of them, UNCONSTRAINED or null [bad-rule]
   13 |   - [a, {b: c}]
      |         ^
m.yaml:14:9: error: the target of a rule is '3', expected a mesh axis, a list of them, UNCONSTRAINED or null [bad-rule]
   14 |   - [a, 3]
      |         ^
)y");
}

TEST_CASE("rules as a map are refused because order counts") {
  CHECK(
      TestFiles(R"(mesh: {data: 2}
rules: {batch: data}
)")
          .rules() ==
      R"(m.yaml:2:8: error: 'rules' is a map, expected a list of pairs [logical axis, mesh axes] [wrong-type]
    2 | rules: {batch: data}
      |        ^
  hint: their order counts, so each rule is an item of its own: - [batch, data]
)");
}

TEST_CASE("a mesh axis has a positive size and a name") {
  CHECK(
      TestFiles("mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}\n").rules() ==
      R"(m.yaml:1:14: error: mesh axis 'data' is 0, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |              ^
m.yaml:1:17: error: '2d' cannot be the name of a mesh axis [bad-name]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |                 ^~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:1:31: error: mesh axis 'model' is x, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |                               ^
m.yaml:1:37: error: mesh axis 'a' is a list, expected a whole number of 1 or more [wrong-type]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |                                     ^
m.yaml:1:45: error: mesh axis 'b' is -2, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |                                             ^~
m.yaml:1:52: error: mesh axis 'c' is 1.5, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -2, c: 1.5}
      |                                                    ^~~
)");
  CHECK(TestFiles("mesh: {b: 4294967296, c: 4294967296}\n").rules() ==
        R"(m.yaml:1:7: error: the mesh has more than 2^63 - 1 devices [size-overflow]
    1 | mesh: {b: 4294967296, c: 4294967296}
      |       ^
)");
  CHECK(
      TestFiles("mesh: [2, 4]\n").rules() ==
      R"(m.yaml:1:7: error: 'mesh' is a list, expected a map of mesh axes to their sizes [wrong-type]
    1 | mesh: [2, 4]
      |       ^
)");
}

TEST_CASE("unknown words and keys of a rules file are refused") {
  CHECK(TestFiles(R"(mesh: {data: 2}
rulse: []
rules_for: {optimzer: [], params: {a: b}, inputs: [[a]]}
unmatched: fail
devices: [cpu]
axis_types: {data: foo}
)")
            .rules() ==
        R"(m.yaml:2:1: error: 'rulse' is not a key of a rules file [unknown-key]
    2 | rulse: []
      | ^~~~~
  hint: did you mean 'rules'?
m.yaml:3:13: error: 'optimzer' is not a part of a model [unknown-key]
    3 | rules_for: {optimzer: [], params: {a: b}, inputs: [[a]]}
      |             ^~~~~~~~
  hint: did you mean 'optimizer'? parts: inputs, params, activations, gradients, optimizer, outputs
m.yaml:3:35: error: 'params' is a map, expected a list of pairs [logical axis, mesh axes] [wrong-type]
    3 | rules_for: {optimzer: [], params: {a: b}, inputs: [[a]]}
      |                                   ^
m.yaml:3:52: error: a rule is a list of 1, expected a pair [logical axis, mesh axes] [bad-rule]
    3 | rules_for: {optimzer: [], params: {a: b}, inputs: [[a]]}
      |                                                    ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
m.yaml:4:12: error: 'unmatched' cannot be 'fail' [unknown-word]
    4 | unmatched: fail
      |            ^~~~
  hint: it is one of: unsharded, error, no-constraint
m.yaml:5:10: error: 'devices' is a list, expected a device set such as cpu-8 [wrong-type]
    5 | devices: [cpu]
      |          ^
m.yaml:6:20: error: 'axis_types' cannot be 'foo' [unknown-word]
    6 | axis_types: {data: foo}
      |                    ^~~
  hint: it is one of: auto, explicit, manual
)");
}

TEST_CASE("a rules file says what stands where and who decides") {
  CHECK(TestFiles(R"y(mesh: {data: 4, fsdp: -1, model: 2}
devices: 4xv5e-16
dcn: {data: -1}
axis_types: {data: explicit, model: auto}
device_order: split
resolver: nnx
misfit: drop-axes
paths:
  - ["*q_proj.weight", "P(model, fsdp)"]
  - ["*.bias", [embed]]
  - ["*.scale", null]
)y")
            .rules() == R"y(m from m.yaml unmatched unsharded devices 4xv5e-16
mesh data=4 fsdp=-1 model=2
rules
paths
  *q_proj.weight -> P('model', 'fsdp')@9:5
  *.bias -> [embed]@10:5
  *.scale -> null@11:5
resolver nnx
misfit drop-axes
dcn data=-1
axis type data explicit
axis type model auto
device order split
)y");
  CHECK(TestFiles(R"y(mesh: {data: 2}
device_order: [1, 0]
misfit: pad
)y")
            .rules() == R"y(m from m.yaml unmatched unsharded
mesh data=2
rules
misfit pad
device order listed 1 0
)y");
}

TEST_CASE("words that place nothing are refused") {
  CHECK(TestFiles(R"y(mesh: {data: 2}
axis_types: {dat: explicit, data: fixed}
resolver: linnen
misfit: drop
device_order: splitt
dcn: {data: x}
paths: ["*", ["*"], ["", P()], ["*", {a: b}]]
)y")
            .rules() ==
        R"y(m.yaml:2:14: error: 'dat' is not an axis of the mesh [unknown-mesh-axis]
    2 | axis_types: {dat: explicit, data: fixed}
      |              ^~~
  hint: did you mean 'data'? the mesh has: data
m.yaml:2:35: error: 'axis_types' cannot be 'fixed' [unknown-word]
    2 | axis_types: {dat: explicit, data: fixed}
      |                                   ^~~~~
  hint: it is one of: auto, explicit, manual
m.yaml:3:11: error: 'resolver' cannot be 'linnen' [unknown-word]
    3 | resolver: linnen
      |           ^~~~~~
  hint: did you mean 'linen'? it is one of: linen, nnx
m.yaml:4:9: error: 'misfit' cannot be 'drop' [unknown-word]
    4 | misfit: drop
      |         ^~~~
  hint: it is one of: error, drop-axes, pad
m.yaml:5:15: error: 'device_order' cannot be 'splitt' [unknown-word]
    5 | device_order: splitt
      |               ^~~~~~
  hint: did you mean 'split'? it is one of: auto, split, contiguous, ids
m.yaml:6:13: error: dcn axis 'data' is x, expected a whole number of 1 or more [bad-size]
    6 | dcn: {data: x}
      |             ^
m.yaml:7:9: error: a placement by path is '*', expected a pair [glob, spec] [bad-path-rule]
    7 | paths: ["*", ["*"], ["", P()], ["*", {a: b}]]
      |         ^~~
  hint: it is written ["*q_proj.weight", "P(tensor, fsdp)"]
m.yaml:7:14: error: a placement by path is a list, expected a pair [glob, spec] [bad-path-rule]
    7 | paths: ["*", ["*"], ["", P()], ["*", {a: b}]]
      |              ^
  hint: it is written ["*q_proj.weight", "P(tensor, fsdp)"]
m.yaml:7:21: error: a placement by path is a list, expected a pair [glob, spec] [bad-path-rule]
    7 | paths: ["*", ["*"], ["", P()], ["*", {a: b}]]
      |                     ^
  hint: it is written ["*q_proj.weight", "P(tensor, fsdp)"]
m.yaml:7:38: error: the spec of a path is a map, expected a list of logical axes, P(...) of mesh axes, "{devices=...}", or null [wrong-type]
    7 | paths: ["*", ["*"], ["", P()], ["*", {a: b}]]
      |                                      ^
)y");
}

TEST_CASE("a text of XLA without quotes is told to need them") {
  CHECK(
      TestFiles("paths: [[a, {replicated}]]\n").rules() ==
      R"(m.yaml:1:13: error: the spec of a path is a map, expected a list of logical axes, P(...) of mesh axes, "{devices=...}", or null [wrong-type]
    1 | paths: [[a, {replicated}]]
      |             ^
  hint: quote a sharding: "{replicated}"
)");
}

TEST_CASE("device ids are whole numbers that fit") {
  CHECK(
      TestFiles("mesh: {data: 4}\ndevice_order: [0, -1, x, 99999999999999999999]\n").rules() ==
      R"(m.yaml:2:19: error: a device id is '-1', expected a whole number of 0 or more [bad-device-id]
    2 | device_order: [0, -1, x, 99999999999999999999]
      |                   ^~
m.yaml:2:23: error: a device id is 'x', expected a whole number of 0 or more [bad-device-id]
    2 | device_order: [0, -1, x, 99999999999999999999]
      |                       ^
m.yaml:2:26: error: a device id is '99999999999999999999', expected a whole number of 0 or more [bad-device-id]
    2 | device_order: [0, -1, x, 99999999999999999999]
      |                          ^~~~~~~~~~~~~~~~~~~~
  hint: ids have at most 63 bits
)");
}

TEST_CASE("an axis is once in the target of a rule") {
  CHECK(
      TestFiles("mesh: {data: 2}\nrules: [[batch, [data, data]]]\n").rules() ==
      R"(m.yaml:2:24: error: mesh axis 'data' is twice in the target of one rule [duplicate-mesh-axis]
    2 | rules: [[batch, [data, data]]]
      |                        ^~~~
  hint: a mesh axis can split a dim once
)");
}

TEST_CASE("a letter that looks like another one is told by its code point") {
  CHECK(
      TestFiles("mesh: {data: 2}\nrules: [[\u0435mbed, data], [mlp, d\u0430ta]]\n").rules() ==
      "m from m.yaml unmatched unsharded\n"
      "mesh data=2\n"
      "rules\n"
      "  \u0435mbed -> data@2:9\n"
      "  mlp -> d\u0430ta@2:25\n"
      "m.yaml:2:10: warning: the name '\u0435mbed' has the letter '\u0435' (U+0435), which is not "
      "ASCII [look-alike-name]\n"
      "  hint: it never equals a name typed with the letter it looks like\n"
      "m.yaml:2:31: warning: the name 'd\u0430ta' has the letter '\u0430' (U+0430), which is not "
      "ASCII [look-alike-name]\n"
      "  hint: it never equals a name typed with the letter it looks like\n");
}

TEST_CASE("a rule set is laid over its file key by key") {
  const TestFiles files(R"(mesh: {expert: 8}
rules: [[batch, expert], [expert, expert]]
devices: v5e-8
rule_sets:
  decode: {mesh: {expert: 4, tensor: 2}, rules: [[mlp, tensor]]}
  long: {unmatched: error}
)");
  CHECK(files.rules() == R"(m from m.yaml unmatched unsharded devices v5e-8
mesh expert=8
rules
  batch -> expert@2:9
  expert -> expert@2:26
)");
  CHECK(files.rules("m.yaml", {}, "decode") ==
        R"(m#decode from m.yaml unmatched unsharded devices v5e-8
mesh expert=4 tensor=2
rules
  mlp -> tensor@5:50
)");
  CHECK(files.rules("m.yaml", {}, "decod") ==
        R"(m.yaml: error: there is no rule set 'decod' [unknown-rule-set]
  hint: did you mean 'decode'? rule sets: decode, long
)");
  CHECK(TestFiles("mesh: {data: 2}\n").rules("m.yaml", {}, "train") ==
        R"(m.yaml: error: there is no rule set 'train' [unknown-rule-set]
  hint: the file has no rule_sets
)");
}

TEST_CASE("mistakes in a rule set are found whether it is asked for or not") {
  const TestFiles files(R"(mesh: {data: 2}
rule_sets:
  decode: {rulse: [], base: x.yaml, unmatched: fail}
)");
  const char* const expected =
      R"(m.yaml:3:12: error: 'rulse' is not a key of a rule set [unknown-key]
    3 |   decode: {rulse: [], base: x.yaml, unmatched: fail}
      |            ^~~~~
  hint: did you mean 'rules'?
m.yaml:3:23: error: 'base' is not a key of a rule set [unknown-key]
    3 |   decode: {rulse: [], base: x.yaml, unmatched: fail}
      |                       ^~~~
m.yaml:3:48: error: 'unmatched' cannot be 'fail' [unknown-word]
    3 |   decode: {rulse: [], base: x.yaml, unmatched: fail}
      |                                                ^~~~
  hint: it is one of: unsharded, error, no-constraint
)";
  CHECK(files.rules() == expected);
}

TEST_CASE("rules need a mesh from somewhere") {
  const auto problem_of = [](RulesConfig rules) {
    try {
      check_has_mesh(rules);
    } catch (const Error& error) {
      return to_string(error.diagnostics().front());
    }
    return std::string();
  };
  RulesConfig rules;
  rules.file = "m.yaml";
  CHECK(problem_of(rules) ==
        "m.yaml: error: a rules file needs the key 'mesh' [missing-key]\n"
        "  hint: mesh: mesh axes and their sizes, major to minor; -1: what the devices leave");
  rules.rule_sets = {"train", "decode"};
  CHECK(problem_of(rules) ==
        "m.yaml: error: a rules file needs the key 'mesh' [missing-key]\n"
        "  hint: the file has rule sets, ask for one: m.yaml#train m.yaml#decode");
  rules.given.mesh = true;
  CHECK(problem_of(rules).empty());
}

TEST_CASE("files given in the wrong place are recognised") {
  CHECK(TestFiles(R"(name: x
layers: []
)")
            .rules() ==
        R"(m.yaml:1:1: error: this is a model file, expected a rules file [wrong-file]
    1 | name: x
      | ^~~~
  hint: 'name' is a key of a model file
)");
  CHECK(TestFiles(R"(mesh: {data: 2}
rules: []
)")
            .model() ==
        R"(m.yaml:1:1: error: this is a rules file, expected a model file [wrong-file]
    1 | mesh: {data: 2}
      | ^~~~
  hint: 'mesh' is a key of a rules file
)");
  CHECK(TestFiles(R"(mesh: {data: 2}
inputs: {x: [a]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:1:1: error: 'mesh' is not a key of a model file [unknown-key]
    1 | mesh: {data: 2}
      | ^~~~
  hint: it is a key of a rules file
m.yaml:2:14: error: 'a' is not a size [unknown-size]
    2 | inputs: {x: [a]}
      |              ^
)");
}

}  // namespace shard
