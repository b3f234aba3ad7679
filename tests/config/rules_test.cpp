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
      TestFiles(R"(mesh: {data: 2}
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
)")
          .rules() ==
      R"(m.yaml:3:5: error: a rule is a list of 1, expected a pair [logical axis, mesh axes] [bad-rule]
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
)");
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
      TestFiles("mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}\n").rules() ==
      R"(m.yaml:1:14: error: mesh axis 'data' is 0, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
      |              ^
m.yaml:1:17: error: '2d' cannot be the name of a mesh axis [bad-name]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
      |                 ^~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:1:31: error: mesh axis 'model' is x, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
      |                               ^
m.yaml:1:37: error: mesh axis 'a' is a list, expected a whole number of 1 or more [wrong-type]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
      |                                     ^
m.yaml:1:45: error: mesh axis 'b' is -1, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
      |                                             ^~
m.yaml:1:52: error: mesh axis 'c' is 1.5, expected a whole number of 1 or more [bad-size]
    1 | mesh: {data: 0, 2d: 3, model: x, a: [1], b: -1, c: 1.5}
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
  hint: it is one of: auto
)");
}

TEST_CASE("what comes later in a rules file says so") {
  CHECK(TestFiles(R"(mesh: {data: 2}
axis_types: {data: explicit, model: auto}
resolver: nnx
misfit: drop-axes
device_order: [0, 1]
dcn: {data: 2}
paths: []
rule_sets: {}
)")
            .rules() ==
        R"(m.yaml:2:20: error: 'axis_types' cannot be 'explicit' yet [not-yet]
    2 | axis_types: {data: explicit, model: auto}
      |                    ^~~~~~~~
  hint: only 'auto' is supported, which is the default
m.yaml:3:11: error: 'resolver' cannot be 'nnx' yet [not-yet]
    3 | resolver: nnx
      |           ^~~
  hint: only 'linen' is supported, which is the default
m.yaml:4:9: error: 'misfit' cannot be 'drop-axes' yet [not-yet]
    4 | misfit: drop-axes
      |         ^~~~~~~~~
  hint: only 'error' is supported, which is the default
m.yaml:5:1: error: 'device_order' is not supported yet in a rules file [not-yet]
    5 | device_order: [0, 1]
      | ^~~~~~~~~~~~
  hint: remove it: devices stand in row-major order
m.yaml:6:1: error: 'dcn' is not supported yet in a rules file [not-yet]
    6 | dcn: {data: 2}
      | ^~~
  hint: remove it: all devices are in one slice
m.yaml:7:1: error: 'paths' is not supported yet in a rules file [not-yet]
    7 | paths: []
      | ^~~~~
  hint: place arrays with `kernel:` or logical axes in the model
m.yaml:8:1: error: 'rule_sets' is not supported yet in a rules file [not-yet]
    8 | rule_sets: {}
      | ^~~~~~~~~
  hint: write one file per rule set; `base:` shares what they have in common
)");
  CHECK(TestFiles(R"(mesh: {data: 2}
axis_types: explicit
misfit: pad
)")
            .rules() ==
        R"(m.yaml:2:13: error: 'axis_types' cannot be 'explicit' yet [not-yet]
    2 | axis_types: explicit
      |             ^~~~~~~~
  hint: only 'auto' is supported, which is the default
m.yaml:3:9: error: 'misfit' cannot be 'pad' yet [not-yet]
    3 | misfit: pad
      |         ^~~
  hint: only 'error' is supported, which is the default
)");
}

TEST_CASE("a rules file needs a mesh") {
  CHECK(TestFiles("rules: []\n").rules() ==
        R"(m.yaml: error: a rules file needs the key 'mesh' [missing-key]
  hint: mesh: mesh axes and their sizes, major to minor
)");
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
