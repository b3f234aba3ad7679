// Models that are lists of arrays.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/arrays_model.h"
#include "model/state_paths.h"
#include "text/rendered.h"

namespace shard {
namespace {

ArraysConfig read(const std::string& text) {
  MemoryReader reader({{"m.yaml", text}});
  Sources sources(reader);
  return read_arrays(merge_model_file("m.yaml", {}, sources));
}

std::string shown(const Model& model) {
  std::string text;
  for (const StateLeaf& leaf : model.state) {
    text += leaf.path + ' ' + to_string(leaf.type) + ' ' + to_string(leaf.placement);
    if (leaf.follows >= 0) text += " -> " + std::to_string(leaf.follows);
    text += '\n';
  }
  return text;
}

std::string notes(const Model& model) {
  std::string text;
  for (const Diagnostic& note : model.notes)
    text += to_string(note.at) + ": " + note.id + ": " + note.message + '\n';
  return text;
}

std::string mistakes(const ArraysConfig& config) {
  MemoryReader reader({});
  Sources sources(reader);
  return rendered(sources, [&] { build_arrays_model(config); });
}

TEST_CASE("a list of arrays is a state and a graph of inputs that does nothing") {
  const Model model = build_arrays_model(read(R"(name: tiny
arrays:
  w{0..1}: f32[embed=4, mlp=8]
  step: i32[]
)"));
  CHECK(model.name == "tiny");
  CHECK_FALSE(model.has_program);
  CHECK(model.parameter_count == 64);
  CHECK(shown(model) == "w0 f32[4,8] [embed, mlp]\nw1 f32[4,8] [embed, mlp]\nstep i32[] null\n");
  CHECK(model.state[2].role == Role::step);
  CHECK(model.notes.empty());
  verify(model.apply);
  CHECK(to_string(model.apply) == R"(arrays
  in  %0 : f32[4,8]  # w0  [embed, mlp]
  in  %1 : f32[4,8]  # w1  [embed, mlp]
  in  %2 : i32[]  # step  null
)");
}

TEST_CASE("the first glob that matches gives the axes") {
  const Model model = build_arrays_model(read(R"(arrays:
  a.q.weight: f32[4, 8]
  a.k.weight: f32[4, 8]
  b: f32[x=4]
axes:
  - ["*.q.weight", [heads, embed]]
  - ["a.*", [embed, heads]]
  - ["a.?.weight", [never]]
)"));
  CHECK(shown(model) ==
        "a.q.weight f32[4,8] [heads, embed]\na.k.weight f32[4,8] [embed, heads]\nb f32[4] [x]\n");
  CHECK(notes(model) ==
        "m.yaml:8:5: glob-unmatched: no array matches 'a.?.weight', so its axes are never used\n");
}

TEST_CASE("a slot has its parameter's axes unless a glob is for it alone") {
  CHECK(shown(build_arrays_model(read(R"(arrays: {params/k: "f32[4, 8]"}
axes:
  - ["opt_state/*", [zero, null]]
  - ["*k", [embed, mlp]]
optimizer: {sgd: {momentum: 0.9}}
)"))) == R"(step i32[] null
params/k f32[4,8] [embed, mlp]
opt_state/0/trace/k f32[4,8] [zero, None] -> 1
)");
  CHECK(shown(build_arrays_model(read(R"(arrays: {params/k: "f32[256, 128]"}
axes: [["*/k", [embed, mlp]]]
optimizer: adafactor
)"))) == R"(step i32[] null
params/k f32[256,128] [embed, mlp]
opt_state/0/count i32[] null
opt_state/0/v_row/k f32[128] [mlp]
opt_state/0/v_col/k f32[256] [embed]
opt_state/0/v/k f32[1] null
)");
}

TEST_CASE("listed slots follow the parameters that end like them") {
  const char* flax = R"(arrays:
  params/a/k: f32[x=4]
  opt_state/0/mu/a/k: f32[x=4]
  opt_state/0/mu/k: f32[x=4]
)";
  CHECK(shown(build_arrays_model(read(flax))) ==
        "params/a/k f32[4] [x]\nopt_state/0/mu/a/k f32[4] [x] -> 0\nopt_state/0/mu/k f32[4] [x]\n");
  const char* jax = R"(arrays:
  ".params/['params']/['k']": f32[x=4]
  ".opt_state/[0]/.mu/['params']/['k']": f32[x=4]
)";
  CHECK(shown(build_arrays_model(read(jax))).ends_with("['k'] f32[4] [x] -> 0\n"));
}

TEST_CASE("what dumps leave out is said") {
  ArraysConfig config = read("arrays: {a: \"f32[2]\"}\n");
  config.arrays[0].dtype.reset();
  ArrayConfig shapeless;
  shapeless.name = "b";
  shapeless.axes.spec = LogicalSpec{{LogicalAxis("embed"), std::nullopt}};
  config.arrays.push_back(shapeless);
  const Model model = build_arrays_model(config);
  CHECK(shown(model) == "a f32[2] null\nb f32[?,?] [embed, None]\n");
  CHECK(model.parameter_count == 2);
  CHECK(notes(model) ==
        "m.yaml: dtype-assumed: 2 arrays come without an element type: f32 is assumed\n"
        "m.yaml: shape-unknown: 1 array comes without a shape: the split is known, the bytes and "
        "whether the sizes divide are not\n");
  config.dtype = DType::bf16;
  CHECK(shown(build_arrays_model(config)).starts_with("a bf16[2] null"));
}

TEST_CASE("adafactor's smaller arrays are noted") {
  const Model model =
      build_arrays_model(read("arrays: {params/k: \"f32[a=4, b=4]\"}\noptimizer: adafactor\n"));
  CHECK(
      notes(model) ==
      "m.yaml:2:12: reduced-axes: 2 arrays of the optimizer have other dims than their "
      "parameters (opt_state/0/v_row/k is f32[1]): they have the axes of the dims that are left\n");
}

TEST_CASE("lists without arrays or with two states or too many bytes are refused") {
  CHECK(mistakes(read("arrays: {}\n")) ==
        "m.yaml: error: the model lists no arrays [no-arrays]\n"
        "  hint: write arrays: {NAME: \"bf16[embed=4096, mlp=14336]\"}, or from: FILE\n");
  CHECK(mistakes(read("arrays: {params/k: \"f32[4]\", step: \"i32[]\"}\noptimizer: adam\n")) ==
        "m.yaml:2:12: error: an optimizer is asked for, and the arrays have a train state already: "
        "'step' [conflicting-keys]\n"
        "  hint: leave out the key optimizer, or list the parameters alone\n");
  CHECK(mistakes(read("arrays:\n  w{0..7}: \"f32[1000000000, 1000000000]\"\n")) ==
        "m.yaml:2:3: error: the arrays together take more than 2^63 - 1 bytes [size-overflow]\n");
}

std::string restyled(const std::string& arrays, PathStyle style) {
  Model model = build_arrays_model(read("arrays:\n" + arrays));
  restyle_paths(model, style);
  std::string text;
  for (std::size_t i = 0; i < model.state.size(); ++i) {
    text += model.state[i].path + '\n';
    CHECK(model.apply.inputs[i].path == model.state[i].path);
    CHECK(model.apply.values[i].name == model.state[i].path);
  }
  return text;
}

TEST_CASE("paths of Flax and of JAX turn into each other") {
  const std::string flax =
      "  step: i32[]\n"
      "  params/decoder/norm/scale: f32[4]\n"
      "  opt_state/0/count: i32[]\n"
      "  opt_state/0/mu/decoder/norm/scale: f32[4]\n"
      "  opt_state/inner_opt_state/1/count: i32[]\n";
  const std::string jax = restyled(flax, PathStyle::jax);
  CHECK(jax == R"(.step
.params/['params']/['decoder']/['norm']/['scale']
.opt_state/[0]/.count
.opt_state/[0]/.mu/['params']/['decoder']/['norm']/['scale']
.opt_state/.inner_opt_state/[1]/.count
)");
  std::string written;
  std::size_t start = 0;
  while (start < jax.size()) {
    const std::size_t end = jax.find('\n', start);
    written += "  \"" + jax.substr(start, end - start) + "\": f32[4]\n";
    start = end + 1;
  }
  CHECK(restyled(written, PathStyle::flax) == R"(step
params/decoder/norm/scale
opt_state/0/count
opt_state/0/mu/decoder/norm/scale
opt_state/inner_opt_state/1/count
)");
  CHECK(restyled(written, PathStyle::jax) == jax);
  CHECK(restyled("  model.norm: f32[4]\n", PathStyle::jax) ==
        ".params/['params']/['model.norm']\n");
  CHECK(restyled("  model/norm/scale: f32[4]\n  optimizer/step: u32[]\n", PathStyle::jax) ==
        "model/norm/scale\noptimizer/step\n");
}

}  // namespace
}  // namespace shard
