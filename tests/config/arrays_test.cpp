// Model files that are lists of arrays.
#include <doctest/doctest.h>

#include "config/expand_names.h"
#include "config/files.h"
#include "config/keys.h"

namespace shard {
namespace {

std::string shown(const OptimizerConfig& optimizer) {
  std::string text = optimizer.kind + '(';
  const auto add = [&](const std::string& part) {
    text += (text.back() == '(' ? "" : ", ") + part;
  };
  for (const auto& [key, value] : optimizer.arguments) {
    add(key + '=' + std::to_string(value).substr(0, 5));
  }
  for (const auto& [key, dtype] : optimizer.dtypes) add(key + '=' + std::string(info(dtype).name));
  if (optimizer.is_scheduled) add("scheduled");
  for (const OptimizerConfig& part : optimizer.parts) add(shown(part));
  return text + ')';
}

std::string shown(const ArrayConfig& array) {
  return array.name + ' ' + to_string(TensorType{*array.dtype, *array.shape}) + ' ' +
         to_string(array.axes) + " at " + to_string(array.at) + '\n';
}

std::string shown(const ArraysConfig& model) {
  std::string text = "name " + model.name + '\n';
  if (!model.from.empty()) text += "from " + model.from + " at " + to_string(model.from_at) + '\n';
  for (const ArrayConfig& array : model.arrays) text += shown(array);
  for (const PathRuleConfig& row : model.axes) {
    text += row.glob + " -> " + to_string(row.spec) + " at " + to_string(row.at) + '\n';
  }
  if (model.dtype) text += "dtype " + std::string(info(*model.dtype).name) + '\n';
  if (model.optimizer) text += "optimizer " + shown(*model.optimizer) + '\n';
  if (model.naming == Naming::nnx) text += "nnx\n";
  return text;
}

std::string read_array_list(const char* text) {
  return TestFiles(text).arrays([](const ArraysConfig& model) { return shown(model); });
}

TEST_CASE("a list of arrays has types with labels or bare sizes or mesh axes") {
  CHECK(read_array_list(R"(name: hf
sizes: {embed: 64}
arrays:
  a: bf16[128, 64]
  b: f32[embed, mlp=256]
  c: f32[256@fsdp, 64]
  d: i32[]
  e: [embed, 4]
)") == R"(name hf
a bf16[128,64] null at m.yaml:4:3
b f32[64,256] [embed, mlp] at m.yaml:5:3
c f32[256,64] P('fsdp', None) at m.yaml:6:3
d i32[] null at m.yaml:7:3
e f32[64,4] [embed, None] at m.yaml:8:3
)");
}

TEST_CASE("ranges in a name stand for one array per number") {
  CHECK(read_array_list(
            R"(arrays: {"l.{0..2}.w": "f32[2]", "e{8..9}.{0..1}": "f32[3]", "{x}": "f32[1]"}
)") == R"(name m
l.0.w f32[2] null at m.yaml:1:10
l.1.w f32[2] null at m.yaml:1:10
l.2.w f32[2] null at m.yaml:1:10
e8.0 f32[3] null at m.yaml:1:34
e8.1 f32[3] null at m.yaml:1:34
e9.0 f32[3] null at m.yaml:1:34
e9.1 f32[3] null at m.yaml:1:34
{x} f32[1] null at m.yaml:1:62
)");
}

TEST_CASE("axes by glob and an optimizer and another file are read") {
  CHECK(read_array_list(R"yaml(from: dumps/llama.json
dtype: bf16
naming: nnx
axes:
  - ["*q_proj.weight", [heads, embed]]
  - ["*.weight", "P(fsdp)"]
optimizer: {chain: [clip_by_global_norm: 1.0, adamw: {learning_rate: schedule, mu_dtype: bf16}]}
)yaml") == R"(name m
from dumps/llama.json at m.yaml:1:7
*q_proj.weight -> [heads, embed] at m.yaml:5:5
*.weight -> P('fsdp',) at m.yaml:6:5
dtype bf16
optimizer chain(clip_by_global_norm(value=1.000), adamw(learning_rate=0.000, mu_dtype=bf16, scheduled))
nnx
)");
}

TEST_CASE("an optimizer is a word or a number or a map of arguments") {
  const auto optimizer = [](const std::string& text) {
    const std::string file = "arrays: {w: \"f32[2]\"}\noptimizer: " + text + "\n";
    const std::string all = read_array_list(file.c_str());
    return all.substr(all.find("optimizer"));
  };
  CHECK(optimizer("adamw") == "optimizer adamw()\n");
  CHECK(optimizer("{lion: 1e-4}") == "optimizer lion(learning_rate=0.000)\n");
  CHECK(optimizer("{multi_steps: {adam: 0.5}}") ==
        "optimizer multi_steps(adam(learning_rate=0.500))\n");
  CHECK(optimizer("{multi_steps: adam}") == "optimizer multi_steps(adam())\n");
  CHECK(optimizer("{multi_steps: {optimizer: sgd, every: 4}}") ==
        "optimizer multi_steps(every=4.000, sgd())\n");
  CHECK(optimizer("{adafactor: {factored: false, min_dim_size_to_factor: 64}}") ==
        "optimizer adafactor(min_dim_size_to_factor=64.00, factored=0.000)\n");
}

TEST_CASE("a transformation without arguments refuses one") {
  CHECK(read_array_list("arrays: {w: \"f32[2]\"}\noptimizer: {identity: 3}\n") ==
        R"(m.yaml:2:23: error: 'identity' takes no argument [wrong-type]
    2 | optimizer: {identity: 3}
      |                       ^
  hint: write it as a word: identity
)");
  CHECK(
      read_array_list("arrays: {w: \"f32[2]\"}\noptimizer: [adam]\n") ==
      R"(m.yaml:2:12: error: 'optimizer' is a list, expected an optimizer: a word or a one-key map [wrong-type]
    2 | optimizer: [adam]
      |            ^
)");
}

TEST_CASE("mistakes in a list of arrays are told with their places") {
  CHECK(read_array_list(R"(arrays:
  a.{5..2}: f32[2]
  b: f32[0]
  c: f33[2]
  d: f32[2]
  d{}: f32[2]
  l{0..1}: f32[2]
  l1: f32[2]
  m{0..2000000}: f32[2]
optimizer: adamv
layers: [relu]
axis: []
)") == R"(m.yaml:2:3: error: the range {5..2} runs backwards [bad-range]
    2 |   a.{5..2}: f32[2]
      |   ^~~~~~~~
  hint: write {2..5}
m.yaml:3:10: error: a dim is 0, expected a whole number of 1 or more [bad-size]
    3 |   b: f32[0]
      |          ^
m.yaml:4:6: error: 'f33' is not an element type [unknown-dtype]
    4 |   c: f33[2]
      |      ^~~
  hint: did you mean 'f32'? element types: f32, bf16, f16, f64, i32, i64, u32, bool, i8, i16, u8, u16, u64, f8_e4m3fn, f8_e5m2, c64
m.yaml:8:3: error: array 'l1' is listed twice [duplicate-array]
    8 |   l1: f32[2]
      |   ^~
m.yaml:9:3: error: 'm{0..2000000}' stands for more than 1,000,000 arrays [too-many-arrays]
    9 |   m{0..2000000}: f32[2]
      |   ^~~~~~~~~~~~~
m.yaml:10:12: error: there is no optimizer 'adamv' [unknown-optimizer]
   10 | optimizer: adamv
      |            ^~~~~
  hint: did you mean 'adam'? it is one of: sgd, momentum, adam, adamw, adafactor, lion, rmsprop, adagrad, lamb, chain, multi_steps, clip_by_global_norm, clip, clip_by_block_rms, add_decayed_weights, scale, identity, scale_by_learning_rate, scale_by_adam, scale_by_lion, scale_by_rms, scale_by_rss, scale_by_trust_ratio, scale_by_param_block_rms, scale_by_factored_rms, trace
m.yaml:11:1: error: 'layers' is of a program, and this model is a list of arrays [conflicting-keys]
   11 | layers: [relu]
      | ^~~~~~
  hint: a model has either layers or arrays
m.yaml:12:1: error: 'axis' is not a key of a model of arrays [unknown-key]
   12 | axis: []
      | ^~~~
  hint: did you mean 'axes'?
)");
}

}  // namespace
}  // namespace shard
