#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("the settings of a model are read") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
name: llama3-8b
naming: plain
seed: 7
dtype: {params: f32, compute: bf16, state: float16}
outputs: {y: [a, b], z: ~}
train:
  loss: mean
  optimizer: {adamw: {learning_rate: 3e-4, weight_decay: 0.1, b1: .8}}
  returns: [grads, outputs]
  microbatches: 1
  donate: false
)")
            .model() ==
        R"(llama3-8b from m.yaml naming plain seed 7 dtypes f32 bf16 f16
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
relu@3:10
output y@8:11 f32[a=4, b=8] [a, b]
output z@8:22
train loss=mean@10:9 adamw learning_rate=0.0003 b1=0.8 weight_decay=0.1 returns grads outputs
)");
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
dtype: bf16
naming: nnx
outputs: [y, z]
train: {loss: {sum: ~}, optimizer: {sgd: 0.1}, returns: loss}
)")
            .model() ==
        R"(m from m.yaml naming nnx seed 0 dtypes bf16 bf16 bf16
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
relu@3:10
output y@6:11
output z@6:14
train loss=sum@7:16 sgd learning_rate=0.1 returns loss donate
)");
}

TEST_CASE("keys with defaults may be left out") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
outputs: y
train: {loss: sum, optimizer: {momentum: {learning_rate: 1}}}
defaults:
seed:
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
relu@3:10
output y@4:10
train loss=sum@5:15 momentum learning_rate=1 returns state loss donate
)");
}

TEST_CASE("all mistakes of a model are reported in one run and in file order") {
  CHECK(TestFiles(R"(name: [x]
sizs: {batch: 8}
sizes: {a: 0}
seed: -1
naming: linnen
dtype: i32
inputs: {x: [a, b]}
layers: relu
outputs: [1]
layrs: []
)")
            .model() ==
        R"(m.yaml:1:7: error: 'name' is a list, expected a text [wrong-type]
    1 | name: [x]
      |       ^
m.yaml:2:1: error: 'sizs' is not a key of a model file [unknown-key]
    2 | sizs: {batch: 8}
      | ^~~~
  hint: did you mean 'sizes'?
m.yaml:3:12: error: size 'a' is 0, expected a whole number of 1 or more [bad-size]
    3 | sizes: {a: 0}
      |            ^
m.yaml:4:7: error: 'seed' is '-1', expected a whole number of 0 or more [wrong-type]
    4 | seed: -1
      |       ^~
m.yaml:5:9: error: 'naming' cannot be 'linnen' [unknown-word]
    5 | naming: linnen
      |         ^~~~~~
  hint: did you mean 'linen'? it is one of: linen, nnx, plain
m.yaml:6:8: error: 'dtype' is 'i32', expected a floating-point type [wrong-type]
    6 | dtype: i32
      |        ^~~
  hint: e.g. f32 or bf16
m.yaml:7:17: error: 'b' is not a size [unknown-size]
    7 | inputs: {x: [a, b]}
      |                 ^
  hint: did you mean 'a'? sizes: a
m.yaml:8:9: error: 'layers' is 'relu', expected a list of layers [wrong-type]
    8 | layers: relu
      |         ^~~~
  hint: also a single layer stands in a list: [relu]
m.yaml:9:11: error: an output is '1', expected a name [bad-name]
    9 | outputs: [1]
      |           ^
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:10:1: error: 'layrs' is not a key of a model file [unknown-key]
   10 | layrs: []
      | ^~~~~
  hint: did you mean 'layers'?
)");
}

TEST_CASE("missing keys are named unless a misspelt one stands for them") {
  CHECK(TestFiles("sizes: {a: 1}\n").model() ==
        R"(m.yaml: error: a model file needs the key 'inputs' [missing-key]
  hint: inputs: the inputs by name, e.g. x: f32[batch, embed]
m.yaml: error: a model file needs the key 'layers' [missing-key]
  hint: layers: the program: each layer works on the value before it
)");
  CHECK(TestFiles(R"(input: {x: [a]}
layers: []
)")
            .model() ==
        R"(m.yaml:1:1: error: 'input' is not a key of a model file [unknown-key]
    1 | input: {x: [a]}
      | ^~~~~
  hint: did you mean 'inputs'?
)");
}

TEST_CASE("mistakes in train are refused") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
)")
            .model() ==
        R"(m.yaml:4:15: error: there is no loss 'summ' [unknown-loss]
    4 | train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
      |               ^~~~
  hint: did you mean 'sum'? it is one of: sum, mean, mse, cross_entropy
m.yaml:4:33: error: optimizer 'adam' needs the key 'learning_rate' [missing-key]
    4 | train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
      |                                 ^~~~
  hint: learning_rate: the step size: a number or a schedule
m.yaml:4:40: error: 'lr' is not a key of optimizer 'adam' [unknown-key]
    4 | train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
      |                                        ^~
  hint: valid keys: learning_rate, b1, b2, eps, eps_root, mu_dtype, nesterov
m.yaml:4:62: error: 'returns' cannot be 'stat' [unknown-word]
    4 | train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
      |                                                              ^~~~
  hint: did you mean 'state'? it is one of: state, loss, grads, outputs
m.yaml:4:100: error: 'donate' is '1', expected true or false [wrong-type]
    4 | train: {loss: summ, optimizer: {adam: {lr: 1e-3}}, returns: [stat, loss], microbatches: 4, donate: 1}
      |                                                                                                    ^
  hint: write true
)");
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
train: {loss: {mse: 3}, optimizer: adm, returns: []}
)")
            .model() ==
        R"(m.yaml:4:21: error: loss 'mse' takes no argument, found '3' [wrong-type]
    4 | train: {loss: {mse: 3}, optimizer: adm, returns: []}
      |                     ^
  hint: write it as a word: mse
m.yaml:4:36: error: there is no optimizer 'adm' [unknown-optimizer]
    4 | train: {loss: {mse: 3}, optimizer: adm, returns: []}
      |                                    ^~~
  hint: did you mean 'adam'? it is one of: sgd, momentum, adam, adamw, adafactor, lion, rmsprop, adagrad, lamb, chain, multi_steps, clip_by_global_norm, clip, clip_by_block_rms, add_decayed_weights, scale, identity, scale_by_learning_rate, scale_by_adam, scale_by_lion, scale_by_rms, scale_by_rss, scale_by_trust_ratio, scale_by_param_block_rms, scale_by_factored_rms, trace
m.yaml:4:50: error: 'returns' is a list, expected at least one of state, loss, grads, outputs [wrong-type]
    4 | train: {loss: {mse: 3}, optimizer: adm, returns: []}
      |                                                  ^
)");
  CHECK(
      TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
train: {loss: [sum], optimizer: adam}
)")
          .model() ==
      R"(m.yaml:4:15: error: 'loss' is a list, expected a loss: a word or a one-key map [wrong-type]
    4 | train: {loss: [sum], optimizer: adam}
      |               ^
m.yaml:4:33: error: optimizer 'adam' needs the key 'learning_rate' [missing-key]
    4 | train: {loss: [sum], optimizer: adam}
      |                                 ^~~~
  hint: learning_rate: the step size: a number or a schedule
)");
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
train: {optimizer: {adam: {learning_rate: "1e-3"}}}
)")
            .model() ==
        R"(m.yaml:4:8: error: 'train' needs the key 'loss' [missing-key]
    4 | train: {optimizer: {adam: {learning_rate: "1e-3"}}}
      |        ^
  hint: loss: what is made of the output: sum, mean ...
m.yaml:4:43: error: 'learning_rate' is '1e-3', expected a number [wrong-type]
    4 | train: {optimizer: {adam: {learning_rate: "1e-3"}}}
      |                                           ^~~~~~
  hint: remove the quotes
)");
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
train: sum
)")
            .model() ==
        R"(m.yaml:4:8: error: 'train' is 'sum', expected a map [wrong-type]
    4 | train: sum
      |        ^~~
)");
}

TEST_CASE("what comes later in a model says so") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
apply: {}
axes: []
train: {loss: sum, optimizer: {sgd: 1}, microbatches: 0}
)")
            .model() ==
        R"(m.yaml:4:1: error: 'apply' is not supported yet in a model file [not-yet]
    4 | apply: {}
      | ^~~~~
  hint: remove it: the layers themselves are applied
m.yaml:5:1: error: 'axes' is of a list of arrays, and this is a program [conflicting-keys]
    5 | axes: []
      | ^~~~
  hint: a list of arrays has the key arrays or from; a program's optimizer stands under train
m.yaml:6:55: error: 'microbatches' must be at least 1, found 0 [bad-size]
    6 | train: {loss: sum, optimizer: {sgd: 1}, microbatches: 0}
      |                                                       ^
)");
}

TEST_CASE("names that would be confused are refused") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
)")
            .model() ==
        R"(m.yaml:4:10: error: a block cannot be called 'dense', which is a layer [reserved-name]
    4 | blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
      |          ^~~~~
  hint: choose another name, e.g. Mydense
m.yaml:4:36: error: an argument cannot be called 'name', which every layer has [reserved-name]
    4 | blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
      |                                    ^~~~
  hint: choose another name
m.yaml:4:45: error: '2x' cannot be the name of an argument [bad-name]
    4 | blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
      |                                             ^~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:4:70: error: 'a-b' cannot be the name of a block [bad-name]
    4 | blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
      |                                                                      ^~~~~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:4:85: error: a block cannot be called 'attention', which is a layer [reserved-name]
    4 | blocks: {dense: [relu], B: {args: {name: 3, 2x: 1}, layers: [relu]}, "a-b": [relu], attention: [relu]}
      |                                                                                     ^~~~~~~~~
  hint: choose another name, e.g. Myattention
)");
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {a-b: [a], x: [a]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:2:10: error: 'a-b' cannot be the name of an input [bad-name]
    2 | inputs: {a-b: [a], x: [a]}
      |          ^~~
  hint: a name is made of letters, digits and _, and starts with no digit
)");
}

TEST_CASE("mistakes in blocks are refused") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
blocks: {A: {layer: []}, B: relu, C: {inputs: {}, layers: [relu]}, D: {layers: [relu], size: 3}}
)")
            .model() ==
        R"(m.yaml:4:14: error: 'layer' is not a key of a block [unknown-key]
    4 | blocks: {A: {layer: []}, B: relu, C: {inputs: {}, layers: [relu]}, D: {layers: [relu], size: 3}}
      |              ^~~~~
  hint: did you mean 'layers'? valid keys: inputs, args, layers
m.yaml:4:29: error: a block is 'relu', expected a map [wrong-type]
    4 | blocks: {A: {layer: []}, B: relu, C: {inputs: {}, layers: [relu]}, D: {layers: [relu], size: 3}}
      |                             ^~~~
  hint: its keys: inputs, args, layers
m.yaml:4:47: error: 'inputs' is a map, expected a name or a list of names [wrong-type]
    4 | blocks: {A: {layer: []}, B: relu, C: {inputs: {}, layers: [relu]}, D: {layers: [relu], size: 3}}
      |                                               ^
m.yaml:4:88: error: 'size' is not a key of a block [unknown-key]
    4 | blocks: {A: {layer: []}, B: relu, C: {inputs: {}, layers: [relu]}, D: {layers: [relu], size: 3}}
      |                                                                                        ^~~~
  hint: valid keys: inputs, args, layers
)");
}

TEST_CASE("wrong settings are refused") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers: [relu]
dtype: {params: i32, compute: f8, stat: f32}
defaults: {use_bais: false, use_bias: "false", kernel_init: [zeros]}
seed: 1.5
name: ""
)")
            .model() ==
        R"(m.yaml:4:17: error: 'params' is 'i32', expected a floating-point type [wrong-type]
    4 | dtype: {params: i32, compute: f8, stat: f32}
      |                 ^~~
  hint: e.g. f32 or bf16
m.yaml:4:31: error: 'f8' is not an element type [unknown-dtype]
    4 | dtype: {params: i32, compute: f8, stat: f32}
      |                               ^~
  hint: did you mean 'i8'? element types: f32, bf16, f16, f64, i32, i64, u32, bool, i8, i16, u8, u16, u64, f8_e4m3fn, f8_e5m2, c64
m.yaml:4:35: error: 'stat' is not a key of 'dtype' [unknown-key]
    4 | dtype: {params: i32, compute: f8, stat: f32}
      |                                   ^~~~
  hint: did you mean 'state'? valid keys: params, compute, state
m.yaml:5:12: error: 'use_bais' is not a key of 'defaults' [unknown-key]
    5 | defaults: {use_bais: false, use_bias: "false", kernel_init: [zeros]}
      |            ^~~~~~~~
  hint: did you mean 'use_bias'? valid keys: kernel_init, bias_init, use_bias, dtype
m.yaml:5:39: error: 'use_bias' is 'false', expected true or false [wrong-type]
    5 | defaults: {use_bais: false, use_bias: "false", kernel_init: [zeros]}
      |                                       ^~~~~~~
  hint: remove the quotes
m.yaml:5:61: error: 'kernel_init' is a list, expected an initializer: a word or a one-key map [wrong-type]
    5 | defaults: {use_bais: false, use_bias: "false", kernel_init: [zeros]}
      |                                                             ^
m.yaml:6:7: error: 'seed' is '1.5', expected a whole number of 0 or more [wrong-type]
    6 | seed: 1.5
      |       ^~~
m.yaml:7:7: error: 'name' is '', expected a text [wrong-type]
    7 | name: ""
      |       ^~
)");
}

}  // namespace shard
