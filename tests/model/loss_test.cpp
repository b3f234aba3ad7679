// Cross entropy: which targets it takes, and every mistake with them.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace {

/// Logits f32[batch, length, vocab] from one-hot rows; `train` is line 5.
std::string language_model(const std::string& loss, const std::string& inputs,
                           const std::string& rest = "") {
  return "sizes: {batch: 2, length: 3, vocab: 5}\n"
         "inputs: {x: \"f32[batch, length, vocab]\", " +
         inputs +
         "}\n"
         "layers: [dense: {features: vocab, use_bias: false}]\n" +
         (rest.empty() ? "seed: 0" : rest) + "\ntrain: {loss: {cross_entropy: " + loss +
         "}, optimizer: {sgd: 1}}\n";
}

Model language_of(const std::string& text) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)));
}

std::string loss_mistakes(const std::string& text) {
  return told_by([&] { language_of(text); });
}

/// The forward lines of the loss.
std::string loss_lines(const Model& model) {
  std::string lines;
  for (const Node& node : model.train_step->nodes) {
    if (node.name != "loss" || node.phase != Phase::forward) continue;
    lines += std::string(def(node.op).name) + ' ' +
             to_string(model.train_step->value(node.results.front()).type) + '\n';
  }
  return lines;
}

}  // namespace

TEST_CASE("cross entropy keeps the targets' classes and leaves negative ones out") {
  const Model model = language_of(language_model("labels", "labels: \"i32[batch, length]\""));
  verify(*model.train_step);
  CHECK(loss_lines(model) ==
        R"(reduce_max f32[2,3]
broadcast f32[2,3,5]
subtract f32[2,3,5]
exp f32[2,3,5]
reduce_sum f32[2,3]
iota i32[2,3,5]
broadcast i32[2,3,5]
eq bool[2,3,5]
constant f32[]
select f32[2,3,5]
reduce_sum f32[2,3]
log f32[2,3]
subtract f32[2,3]
constant i32[]
ge bool[2,3]
constant f32[]
select f32[2,3]
reduce_sum f32[]
convert f32[2,3]
reduce_sum f32[]
divide f32[]
)");
}

TEST_CASE("targets that are all there need no count") {
  const Model model = language_of(language_model("{targets: labels, ignore_negative: false}",
                                                 "labels: \"i32[batch, length]\""));
  verify(*model.train_step);
  CHECK(loss_lines(model).find("select f32[2,3]\n") == std::string::npos);
}

TEST_CASE("shifted targets are the next ones and the last position has none") {
  const Model model =
      language_of(language_model("shift(tokens)", "tokens: \"i32[batch, length]\""));
  verify(*model.train_step);
  for (const Node& node : model.train_step->nodes) {
    if (node.op != Op::pad || node.phase != Phase::forward) continue;
    CHECK(to_string(node.attributes) == "{low=[0,-1], high=[0,1], interior=[0,0]}");
  }
  CHECK(loss_lines(model).starts_with("constant i32[]\npad i32[2,3]\n"));
}

TEST_CASE("targets that do not fit the logits are refused") {
  CHECK(loss_mistakes(language_model("label", "labels: \"i32[batch, length]\"")) ==
        "model.yaml:5:31: error: there is no input 'label' for the targets [unknown-value]\n"
        "  hint: did you mean 'labels'? inputs: x, labels\n");
  CHECK(loss_mistakes(language_model("labels", "labels: \"f32[batch, length]\"")) ==
        "model.yaml:5:31: error: targets are integers, 'labels' is f32[2,3] [dtype-mismatch]\n"
        "  hint: declare it as i32[...]\n");
  CHECK(loss_mistakes(language_model("labels", "labels: \"i32[batch]\"")) ==
        "model.yaml:5:31: error: the output is f32[2,3,5], the targets are i32[2]: they must have "
        "all dims of the output but the last [shape-mismatch]\n");
  CHECK(loss_mistakes(
            language_model("labels", "labels: \"i32[batch, length]\"", "outputs: [x, labels]"))
            .find("the loss needs floating-point outputs") != std::string::npos);
  CHECK(loss_mistakes(language_model("labels", "labels: \"i32[batch, length]\"", "outputs: [x, y]"))
            .find("there is no value 'y' here") != std::string::npos);
}
