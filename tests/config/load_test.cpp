#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("bases are laid over each other in order") {
  CHECK(TestFiles({{"top/m.yaml", R"(base: [../a.yaml, b.yaml]
sizes: {p: 5}
)"},
                   {"a.yaml", R"(name: a
sizes: {p: 1, q: 2}
layers: [relu]
inputs: {x: [p]}
)"},
                   {"top/b.yaml", R"(name: b
sizes: {q: 3}
layers: [silu, relu]
)"}}).resolved_model("top/m.yaml") ==
        R"(name: b               # top/b.yaml:1
sizes:                # a.yaml:2
  p: 5                # top/m.yaml:2
  q: 3                # top/b.yaml:2
layers: [silu, relu]  # top/b.yaml:3
inputs: {x: [p]}      # a.yaml:4
)");
}

TEST_CASE("set changes items of lists and keys of maps") {
  CHECK(TestFiles({{"m.yaml", R"(base: a.yaml
set: {layers.1.dense.features: q, sizes.p: 7, q: 9, layers.0: silu, train: null}
)"},
                   {"a.yaml", R"(sizes: {p: 1, q: 2}
inputs: {x: [p]}
layers: [relu, dense: {features: p}]
train: {loss: sum, optimizer: {sgd: 0.1}}
)"}}).model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes p=7 q=9
input x@2:10 f32[p=7] [p]
silu@2:63
dense@3:16 features=9/q
)");
}

TEST_CASE("a wrong path in set is refused with the nearest step") {
  CHECK(TestFiles({{"m.yaml", R"(base: a.yaml
set:
  layers.2: relu
  layers.one: relu
  layer.0: relu
  sizes.pp: 3
  inputs.y: [p]
  name.x: 1
  layers.1.dens.features: q
)"},
                   {"a.yaml", R"(name: a
sizes: {p: 1, q: 2}
inputs: {x: [p]}
layers: [relu, dense: {features: p}]
)"}}).model() ==
        R"(m.yaml:3:10: error: '2' is no item of a list of 2 [bad-set-path]
    3 |   layers.2: relu
      |          ^
  hint: items are counted from 0 to 1
m.yaml:4:10: error: 'one' is no item of a list of 2 [bad-set-path]
    4 |   layers.one: relu
      |          ^~~
  hint: items are counted from 0 to 1
m.yaml:5:3: error: 'layer' is neither a key of a model file nor a size [bad-set-path]
    5 |   layer.0: relu
      |   ^~~~~
  hint: did you mean 'layers'?
m.yaml:6:9: error: 'sizes' has no 'pp' [bad-set-path]
    6 |   sizes.pp: 3
      |         ^~
  hint: did you mean 'p'? it has: p, q
m.yaml:7:10: error: 'inputs' has no 'y' [bad-set-path]
    7 |   inputs.y: [p]
      |          ^
  hint: did you mean 'x'? it has: x
m.yaml:8:8: error: 'name' is 'a', which has no 'x' [bad-set-path]
    8 |   name.x: 1
      |        ^
  hint: set 'name' itself
m.yaml:9:12: error: 'layers.1' has no 'dens' [bad-set-path]
    9 |   layers.1.dens.features: q
      |            ^~~~
  hint: did you mean 'dense'? it has: dense
)");
}

TEST_CASE("a file that is built on itself is refused with the way round") {
  CHECK(
      TestFiles({{"m.yaml", "base: a.yaml\n"},
                 {"a.yaml", "base: [b.yaml]\n"},
                 {"b.yaml", "base: m.yaml\n"}})
          .model() ==
      R"(b.yaml:1:7: error: 'm.yaml' is built on itself: m.yaml -> a.yaml -> b.yaml -> m.yaml [base-cycle]
    1 | base: m.yaml
      |       ^~~~~~
  hint: remove one `base`
)");
  CHECK(TestFiles("base: m.yaml\n").model() ==
        R"(m.yaml:1:7: error: 'm.yaml' is built on itself: m.yaml -> m.yaml [base-cycle]
    1 | base: m.yaml
      |       ^~~~~~
  hint: remove one `base`
)");
}

TEST_CASE("a base that is missing or no text is refused") {
  CHECK(TestFiles({{"m.yaml", "base: gide.yaml\n"}, {"guide.yaml", "a: 1\n"}}).model() ==
        R"(m.yaml:1:7: error: there is no file 'gide.yaml' [missing-file]
    1 | base: gide.yaml
      |       ^~~~~~~~~
  hint: did you mean 'guide.yaml'?
)");
  CHECK(TestFiles(R"(base: {a: b}
inputs: {}
layers: []
)")
            .model() ==
        R"(m.yaml:1:7: error: 'base' is a map, expected a file or a list of files [wrong-type]
    1 | base: {a: b}
      |       ^
)");
  CHECK(TestFiles(R"(base: [[a]]
set: [x]
inputs: {}
layers: []
)")
            .model() ==
        R"(m.yaml:1:8: error: 'base' is a list, expected a file or a list of files [wrong-type]
    1 | base: [[a]]
      |        ^
m.yaml:2:6: error: 'set' is a list, expected a map of dotted paths to values [wrong-type]
    2 | set: [x]
      |      ^
)");
}

TEST_CASE("a file that is no map is refused") {
  CHECK(TestFiles("- relu\n").model() ==
        R"(m.yaml:1:1: error: a model file holds a list, expected a map [wrong-type]
    1 | - relu
      | ^
  hint: its keys: name, base, set, sizes, size_sets, dtype, inputs, defaults, naming, blocks, layers, outputs, train, seed, arrays, from, axes, optimizer
)");
  CHECK(TestFiles("hello\n").model() ==
        R"(m.yaml:1:1: error: a model file holds 'hello', expected a map [wrong-type]
    1 | hello
      | ^~~~~
  hint: its keys: name, base, set, sizes, size_sets, dtype, inputs, defaults, naming, blocks, layers, outputs, train, seed, arrays, from, axes, optimizer
)");
  CHECK(TestFiles("- a\n").rules() ==
        R"(m.yaml:1:1: error: a rules file holds a list, expected a map [wrong-type]
    1 | - a
      | ^
  hint: its keys: mesh, rules, rules_for, paths, unmatched, misfit, reshard_memory, resolver, devices, dcn, device_order, axis_types, findings, base, set, rule_sets
)");
}

TEST_CASE("the command line comes last") {
  CHECK(
      TestFiles({{"other.yaml", "x: 1"}, {"m.yaml", R"(sizes: {p: 1, q: p}
size_sets: {big: {p: 100}}
inputs: {x: [p]}
layers: [dense: {features: q}]
)"}})
          .model("m.yaml", {{"q=7", "layers.0.dense.kernel=P(None, model)", "seed=3", "name=other"},
                            "big",
                            "",
                            {}}) ==
      R"(other from m.yaml naming linen seed 3 dtypes f32 f32 f32
sizes p=100 q=7
input x@3:10 f32[p=100] [p]
dense@4:10 features=7/q kernel=P(None, 'model')
)");
  CHECK(TestFiles({{"other.yaml", "x: 1"}, {"m.yaml", R"(mesh: {data: 2, model: 4}
rules: [[batch, data]]
)"}}).rules("m.yaml", {{}, "", "x=4,y=2", {"[embed, [x, y]]", "[embed, null]"}}) ==
        R"(m from m.yaml unmatched unsharded
mesh x=4 y=2
rules
  batch -> data@2:9
  embed -> x+y@1:1
  embed -> None@2:1
)");
}

TEST_CASE("a wrong override is shown as it was typed") {
  CHECK(TestFiles(R"(sizes: {p: 1, q: p}
size_sets: {big: {p: 100}}
inputs: {x: [p]}
layers: [dense: {features: q}]
)")
            .model("m.yaml", {{"pp=3", "p", "p=0", "layers.0.dense.features=[", "=3",
                               "layers.0.dense.kernel=P(None, model"},
                              "bigg",
                              "",
                              {}}) ==
        R"(--sizes:1:1: error: there is no size set 'bigg' [unknown-size-set]
    1 | bigg
      | ^~~~
  hint: did you mean 'big'? size sets: big
--set:1:1: error: 'pp' is neither a key of a model file nor a size [bad-set-path]
    1 | pp=3
      | ^~
  hint: did you mean 'p'?
--set:2:1: error: 'p' is not PATH=VALUE [bad-override]
    2 | p
      | ^
  hint: e.g. --set batch=64 or --set layers.0.repeat.scan=true
--set:3:3: error: size 'p' is 0, expected a whole number of 1 or more [bad-size]
    3 | p=0
      |   ^
--set:4:25: error: this bracket is never closed [yaml-syntax]
    4 | layers.0.dense.features=[
      |                         ^
--set:5:1: error: '=3' is not PATH=VALUE [bad-override]
    5 | =3
      | ^~
  hint: e.g. --set batch=64 or --set layers.0.repeat.scan=true
--set:6:36: error: the text ends, expected ',' or ')' [spec-syntax]
    6 | layers.0.dense.kernel=P(None, model
      |                                    ^
)");
  CHECK(TestFiles(R"(sizes: {p: 1}
inputs: {x: [p]}
layers: [relu]
)")
            .model("m.yaml", {{}, "big", "", {}}) ==
        R"(--sizes:1:1: error: there is no size set 'big' [unknown-size-set]
    1 | big
      | ^~~
  hint: the model has no size_sets
)");
  CHECK(TestFiles("mesh: {data: 2}\n")
            .rules("m.yaml", {{}, "", "data=4,model,=3,x=,data=5,y=0", {}}) ==
        R"(--mesh:1:8: error: 'model' is not AXIS=SIZE [bad-override]
    1 | data=4,model,=3,x=,data=5,y=0
      |        ^~~~~
  hint: e.g. --mesh data=4,model=2
--mesh:1:14: error: '=3' is not AXIS=SIZE [bad-override]
    1 | data=4,model,=3,x=,data=5,y=0
      |              ^~
  hint: e.g. --mesh data=4,model=2
--mesh:1:19: error: mesh axis 'x' is nothing, expected a whole number of 1 or more [bad-size]
    1 | data=4,model,=3,x=,data=5,y=0
      |                   ^
--mesh:1:20: error: mesh axis 'data' is given twice [bad-override]
    1 | data=4,model,=3,x=,data=5,y=0
      |                    ^~~~
--mesh:1:29: error: mesh axis 'y' is 0, expected a whole number of 1 or more [bad-size]
    1 | data=4,model,=3,x=,data=5,y=0
      |                             ^
)");
  CHECK(TestFiles("mesh: {data: 2}\n").rules("m.yaml", {{}, "", "data=4,", {"[a", "embed"}}) ==
        R"(--mesh:1:8: error: '' is not AXIS=SIZE [bad-override]
    1 | data=4,
      |        ^
  hint: e.g. --mesh data=4,model=2
--add-rule:1:1: error: this bracket is never closed [yaml-syntax]
    1 | [a
      | ^
--add-rule:2:1: error: a rule is 'embed', expected a pair [logical axis, mesh axes] [bad-rule]
    2 | embed
      | ^~~~~
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
)");
}

TEST_CASE("a size set may only name sizes") {
  CHECK(TestFiles(R"(sizes: {p: 1}
size_sets: {big: {pp: 100}, small: 3}
inputs: {x: [p]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:2:19: error: 'pp' is not a size, so a set cannot change it [unknown-size]
    2 | size_sets: {big: {pp: 100}, small: 3}
      |                   ^~
  hint: did you mean 'p'? sizes: p
m.yaml:2:36: error: size set 'small' is '3', expected a map of sizes [wrong-type]
    2 | size_sets: {big: {pp: 100}, small: 3}
      |                                    ^
)");
}

TEST_CASE("a rules file may build on another") {
  CHECK(TestFiles({{"m.yaml", R"(base: a.yaml
mesh: {model: 2}
set: {rules.1: [hidden, model]}
)"},
                   {"a.yaml", R"(mesh: {data: 2, model: 4}
rules:
  - [batch, data]
  - [hidden, null]
)"}}).rules() ==
        R"(m from m.yaml unmatched unsharded
mesh data=2 model=2
rules
  batch -> data@3:5
  hidden -> model@3:16
)");
}

}  // namespace shard
