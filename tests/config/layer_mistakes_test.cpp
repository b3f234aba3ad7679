#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("a call with wrong arguments is refused") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
blocks:
  Two: {args: {n: a, m: b}, layers: [relu]}
  One: {args: {n: ~}, layers: [relu]}
  None_: [relu]
layers:
  - Two: {nn: 3}
  - One
  - One: {n: nope}
  - One: {n: 1, kernel: null}
  - None_: 3
  - Two: 3
)")
            .model() ==
        R"(m.yaml:8:11: error: 'nn' is not an argument of block 'Two' [unknown-key]
    8 |   - Two: {nn: 3}
      |           ^~
  hint: did you mean 'n'? valid keys: n, m, name, of, out_sharding
m.yaml:9:5: error: block 'One' needs the argument 'n' [missing-key]
    9 |   - One
      |     ^~~
  hint: it has no default
m.yaml:10:14: error: 'n' is 'nope', which is neither a number nor a size [unknown-size]
   10 |   - One: {n: nope}
      |              ^~~~
  hint: sizes: a, b
m.yaml:11:17: error: 'kernel' is not an argument of block 'One' [unknown-key]
   11 |   - One: {n: 1, kernel: null}
      |                 ^~~~~~
  hint: valid keys: n, name, of, out_sharding
m.yaml:12:12: error: block 'None_' is '3', expected a map [wrong-type]
   12 |   - None_: 3
      |            ^
  hint: its keys: name, of, out_sharding
m.yaml:13:10: error: block 'Two' is '3', expected a map [wrong-type]
   13 |   - Two: 3
      |          ^
  hint: its keys: name, of, out_sharding
)");
}

TEST_CASE("what is no layer is refused with what to write") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - dense:
    features: b
  - relu: ~
    dense: b
  - [relu]
  - ~
  - {}
  - ""
)")
            .model() ==
        R"(m.yaml:4:5: error: a layer is a map, expected a word or a map with one key [wrong-type]
    4 |   - dense:
      |     ^
  hint: indent the keys of 'dense' further than 'dense'
m.yaml:6:5: error: a layer is a map, expected a word or a map with one key [wrong-type]
    6 |   - relu: ~
      |     ^
  hint: indent the keys of 'relu' further than 'relu'
m.yaml:8:5: error: a layer is a list, expected a word or a map with one key [wrong-type]
    8 |   - [relu]
      |     ^
  hint: e.g. `- relu` or `- dense: {features: hidden}`
m.yaml:9:5: error: a layer is nothing, expected a word or a map with one key [wrong-type]
    9 |   - ~
      |     ^
  hint: e.g. `- relu` or `- dense: {features: hidden}`
m.yaml:10:5: error: a layer is a map, expected a word or a map with one key [wrong-type]
   10 |   - {}
      |     ^
  hint: e.g. `- relu` or `- dense: {features: hidden}`
m.yaml:11:5: error: a layer is '', expected a word or a map with one key [wrong-type]
   11 |   - ""
      |     ^~
  hint: e.g. `- relu` or `- dense: {features: hidden}`
)");
}

TEST_CASE("keys of a layer are closed") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - dense: {featurs: b}
  - dense
  - dense: {features: b, units: 3}
  - dot: {features: b, use_bias: true}
  - constrain: {of: x}
  - repeat: {block: B, pattern: [B], times: 0}
  - repeat: {times: 2}
  - param: {axes: [a]}
  - residual: relu
  - param: W
)")
            .model() ==
        R"(m.yaml:4:13: error: 'featurs' is not a key of layer 'dense' [unknown-key]
    4 |   - dense: {featurs: b}
      |             ^~~~~~~
  hint: did you mean 'features'?
m.yaml:5:5: error: layer 'dense' needs the key 'features' [missing-key]
    5 |   - dense
      |     ^~~~~
  hint: features: the new last dim: its label and size
m.yaml:6:26: error: 'units' is not a key of layer 'dense' [unknown-key]
    6 |   - dense: {features: b, units: 3}
      |                          ^~~~~
m.yaml:7:24: error: 'use_bias' is not a key of layer 'dot' [unknown-key]
    7 |   - dot: {features: b, use_bias: true}
      |                        ^~~~~~~~
  hint: valid keys: features, name, of, dtype, out_sharding, kernel, params, constrain, kernel_init
m.yaml:8:16: error: layer 'constrain' needs the key 'spec' [missing-key]
    8 |   - constrain: {of: x}
      |                ^
  hint: spec: the placement
m.yaml:9:24: error: layer 'repeat' has both 'block' and 'pattern' [conflicting-keys]
    9 |   - repeat: {block: B, pattern: [B], times: 0}
      |                        ^~~~~~~
  hint: keep one of the two
m.yaml:9:45: error: 'times' is 0, expected a whole number of 1 or more [bad-size]
    9 |   - repeat: {block: B, pattern: [B], times: 0}
      |                                             ^
m.yaml:10:5: error: layer 'repeat' needs the key 'block' (or 'pattern') [missing-key]
   10 |   - repeat: {times: 2}
      |     ^~~~~~
  hint: block: the block of the file that is repeated
m.yaml:11:12: error: layer 'param' needs the key 'name' [missing-key]
   11 |   - param: {axes: [a]}
      |            ^
  hint: name: the parameter's name
m.yaml:12:15: error: 'layers' is 'relu', expected a list of layers [wrong-type]
   12 |   - residual: relu
      |               ^~~~
  hint: also a single layer stands in a list: [relu]
m.yaml:13:12: error: layer 'param' is given 'W', expected a map of its keys [wrong-type]
   13 |   - param: W
      |            ^
  hint: its keys: name, axes, init, dtype
)");
}

TEST_CASE("wrong values of layer keys are refused") {
  CHECK(
      TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - dense: {features: c}
  - dense: a * b
  - dense: [b]
  - dense: {features: b, use_bias: 1}
  - dense: {features: b, kernel_init: xavier}
  - dense: {features: b, kernel_init: {normal: {stdev: 1}}}
  - dense: {features: b, kernel_init: {normal: {stddev: big}}}
  - dense: {features: b, kernel_init: {zeros: 1}}
  - dense: {features: b, kernel_init: {zeros: ~, ones: ~}}
  - dense: {features: b, dtype: f8}
  - dense: {features: b, name: 0x}
  - dense: {features: b, of: [[x]]}
  - repeat: {block: B, times: -1, scan: yes}
  - let: h = x +
  - param: {name: W, axes: [a, c], init: zeros}
)")
          .model() ==
      R"(m.yaml:4:23: error: 'features' is 'c', which is neither a number nor a size [unknown-size]
    4 |   - dense: {features: c}
      |                       ^
  hint: did you mean 'a'? sizes: a, b
m.yaml:5:12: error: 'features' is 'a * b', which is neither a number nor a size [unknown-size]
    5 |   - dense: a * b
      |            ^~~~~
  hint: name it under sizes, e.g. NAME: a * b, and write NAME here
m.yaml:6:12: error: 'features' is a list, expected a number or a size's name [wrong-type]
    6 |   - dense: [b]
      |            ^
m.yaml:7:36: error: 'use_bias' is '1', expected true or false [wrong-type]
    7 |   - dense: {features: b, use_bias: 1}
      |                                    ^
  hint: write true
m.yaml:8:39: error: there is no initializer 'xavier' [unknown-initializer]
    8 |   - dense: {features: b, kernel_init: xavier}
      |                                       ^~~~~~
  hint: it is one of: zeros, ones, constant, normal, truncated_normal, uniform, lecun_normal, lecun_uniform, xavier_normal, xavier_uniform, he_normal, he_uniform
m.yaml:9:49: error: 'stdev' is not a key of initializer 'normal' [unknown-key]
    9 |   - dense: {features: b, kernel_init: {normal: {stdev: 1}}}
      |                                                 ^~~~~
  hint: did you mean 'stddev'? valid keys: stddev
m.yaml:10:57: error: 'stddev' is 'big', expected a number [wrong-type]
   10 |   - dense: {features: b, kernel_init: {normal: {stddev: big}}}
      |                                                         ^~~
m.yaml:11:47: error: initializer 'zeros' takes no argument, found '1' [wrong-type]
   11 |   - dense: {features: b, kernel_init: {zeros: 1}}
      |                                               ^
  hint: write it as a word: zeros
m.yaml:12:39: error: 'initializer' is a map, expected a word or a map with one key [wrong-type]
   12 |   - dense: {features: b, kernel_init: {zeros: ~, ones: ~}}
      |                                       ^
  hint: indent the arguments below the initializer's name
m.yaml:13:33: error: 'f8' is not an element type [unknown-dtype]
   13 |   - dense: {features: b, dtype: f8}
      |                                 ^~
  hint: did you mean 'i8'? element types: f32, bf16, f16, f64, i32, i64, u32, bool, i8, i16, u8, u16, u64, f8_e4m3fn, f8_e5m2, c64
m.yaml:14:32: error: 'name' is '0x', expected a name [bad-name]
   14 |   - dense: {features: b, name: 0x}
      |                                ^~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:15:31: error: an item of 'of' is a list, expected a name [wrong-type]
   15 |   - dense: {features: b, of: [[x]]}
      |                               ^
m.yaml:16:31: error: 'times' is -1, expected a whole number of 1 or more [bad-size]
   16 |   - repeat: {block: B, times: -1, scan: yes}
      |                               ^~
m.yaml:16:41: error: 'scan' is 'yes', expected true or false [wrong-type]
   16 |   - repeat: {block: B, times: -1, scan: yes}
      |                                         ^~~
  hint: write true
m.yaml:17:17: error: the line ends, expected a value, a number or op(...) [expression-syntax]
   17 |   - let: h = x +
      |                 ^
m.yaml:18:32: error: 'c' is not a size [unknown-size]
   18 |   - param: {name: W, axes: [a, c], init: zeros}
      |                                ^
  hint: did you mean 'a'? sizes: a, b
)");
}

TEST_CASE("keys of the grammar that come later say so") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
apply: [relu]
)")
            .model() ==
        R"(m.yaml:4:1: error: 'apply' is not supported yet in a model file [not-yet]
    4 | apply: [relu]
      | ^~~~~
  hint: remove it: the layers themselves are applied
)");
}

}  // namespace shard
