// From files: the shipped models, and the forms of the grammar.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace {

Model shipped(const std::string& name) {
  DiskReader disk;
  Sources sources(disk);
  const std::string path = std::string(SHARD_SOURCE_DIR) + "/models/" + name + ".yaml";
  return build_model(read_model(merge_model_file(path, {}, sources)));
}

Model from_text(const std::string& text) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)));
}

std::string mistakes(const std::string& text) {
  return told_by([&] { from_text(text); });
}

std::string leaf_text(const Model& model, const std::string& path) {
  for (const StateLeaf& leaf : model.state) {
    if (leaf.path == path) return to_string(leaf.type) + " " + to_string(leaf.placement);
  }
  return "no such leaf";
}

}  // namespace

TEST_CASE("the shipped models build and verify") {
  for (const char* name : {"guide_mlp", "guide_mlp_scan", "guide_logical_mlp", "mlp"}) {
    CAPTURE(name);
    const Model model = shipped(name);
    verify(model.apply);
    REQUIRE(model.train_step.has_value());
    verify(*model.train_step);
    CHECK(model.parameter_count == 8388608);
    CHECK(model.notes.empty());
  }
}

TEST_CASE("the shipped models have the guide's state") {
  const Model mesh_axes = shipped("guide_mlp");
  CHECK(mesh_axes.state.size() == 26);
  CHECK(leaf_text(mesh_axes, "params/DotReluDot_3/Dense_0/kernel") ==
        "f32[1024,1024] P(None, 'model')");
  CHECK(leaf_text(mesh_axes, "opt_state/0/nu/DotReluDot_0/W2") ==
        "f32[1024,1024] P('model', None)");
  CHECK(leaf_text(mesh_axes, "opt_state/0/count") == "i32[] null");
  CHECK(mesh_axes.dropped == std::vector<std::string>{"DotReluDot_3/W2"});

  const Model scan = shipped("guide_mlp_scan");
  CHECK(scan.state.size() == 8);
  CHECK(leaf_text(scan, "params/ScanDotReluDot_0/Dense_0/kernel") ==
        "f32[4,1024,1024] P(None, None, 'model')");
  CHECK(scan.dropped.empty());

  const Model logical = shipped("guide_logical_mlp");
  CHECK(leaf_text(logical, "params/LogicalDotReluDot_0/Dense_0/kernel") ==
        "f32[1024,1024] [embed, hidden]");
}

TEST_CASE("a model may use every form of layer") {
  const Model model = from_text(R"YAML(
name: forms
sizes: {batch: 2, embed: 4, hidden: 8, wide: hidden}
inputs: {x: [batch, embed], mask: "f32[batch]"}
defaults: {use_bias: false}
blocks:
  Mix:
    inputs: [x, gate]
    args: {features: hidden}
    layers:
      - dense: features
      - silu
      - dense: {name: out, features: embed, out_sharding: [batch, embed]}
      - let: "y = out * (1 + gate)"
layers:
  - param: {name: offset, axes: [embed], init: zeros}
  - residual:
      - dense: {name: up, features: wide, use_bias: true, kernel: null}
      - gelu
      - dense: embed
  - let: h = x - 0.5 * offset
  - Mix: {of: [h, offset], features: wide}
  - parallel: [relu, {scale: 0.5}, {dense: embed}]
  - reduce_sum: {dims: embed, name: s}
  - multiply: {of: [s, mask]}
train: {loss: mean, optimizer: {momentum: {learning_rate: 0.1}}, returns: [state, loss, grads, outputs]}
)YAML");
  verify(model.apply);
  verify(*model.train_step);
  std::vector<std::string> paths;
  for (const StateLeaf& leaf : model.state) {
    if (leaf.role == Role::parameter) paths.push_back(leaf.path + " " + to_string(leaf.type));
  }
  CHECK(paths == std::vector<std::string>{
                     "params/Dense_0/kernel f32[8,4]", "params/Dense_1/kernel f32[4,4]",
                     "params/Mix_0/Dense_0/kernel f32[4,8]", "params/Mix_0/out/kernel f32[8,4]",
                     "params/offset f32[4]", "params/up/bias f32[8]", "params/up/kernel f32[4,8]"});
  // The residual is computed and then not used.
  CHECK(model.dropped == std::vector<std::string>{"up", "gelu_0", "Dense_0", "residual_0"});
}

TEST_CASE("mistakes in a file are shown at their words") {
  CHECK(mistakes(R"YAML(
sizes: {batch: 2, embed: 4}
inputs: {x: [batch, embed]}
blocks:
  Block: [relu, {dense: embed}, {constrain: [embed, batch]}, tahn]
layers:
  - repeat: {block: Block, times: 3}
  - let: "y = z @ x"
)YAML") ==
        "model.yaml:5:62: error: there is no layer, op or block 'tahn' [unknown-layer]\n"
        "  hint: did you mean 'tanh'?\n"
        "model.yaml:5:45: error: 'embed' is 4, but dim 0 of f32[batch=2, embed=4] is 2 "
        "[constrain-size]\n"
        "  hint: name the dim by a size that is equal, or write null to leave it whole\n"
        "model.yaml:8:15: error: there is no value 'z' here [unknown-value]\n"
        "  hint: did you mean 'x'? values: x\n");
}
