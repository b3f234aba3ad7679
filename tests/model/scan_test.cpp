// Loops: the scanned form computes what the written-out form does, forward and backward.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "model/model.h"
#include "support/evaluate.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::vector<Array> random_inputs(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Array> inputs;
  for (const GraphInput& input : graph.inputs) {
    const TensorType& type = graph.value(input.value).type;
    inputs.push_back(info(type.dtype).is_float ? random_array(type, random, -1, 1)
                                               : filled(type, 0));
  }
  return inputs;
}

/// The train step's loss and gradients only.
ModelConfig returning_gradients(ModelConfig config) {
  config.train->returns_state = false;
  config.train->returns_loss = true;
  config.train->returns_grads = true;
  return config;
}

/// How far the gradients of the model's loss are from central differences.
double error_of(ModelConfig config) {
  const Model model = build_model(returning_gradients(std::move(config)));
  verify(*model.train_step);
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < model.train_step->inputs.size(); ++i) {
    if (model.train_step->inputs[i].role == Role::parameter) wrt.push_back(i);
  }
  REQUIRE_FALSE(wrt.empty());
  return gradient_error(*model.train_step, wrt, random_inputs(*model.train_step, 3));
}

/// The slice of a stacked parameter that iteration `i` uses.
std::vector<double> slice(const Array& stack, std::int64_t i) {
  const auto size = static_cast<std::ptrdiff_t>(stack.data.size()) / stack.type.shape[0];
  return {stack.data.begin() + i * size, stack.data.begin() + (i + 1) * size};
}

ModelBuilder small_scan() {
  ModelBuilder builder({{"batch", 2}, {"embed", 3}, {"hidden", 4}});
  builder.input("x", {"batch", "embed"});
  return builder;
}

}  // namespace

TEST_CASE("the scanned guide has the outputs and gradients of the written-out one") {
  const std::int64_t layers = 3;
  const Model scanned = build_model(returning_gradients(guide(true, layers)));
  const Model written = build_model(returning_gradients(guide(false, layers)));
  const std::vector<Array> scan_inputs = random_inputs(*scanned.train_step, 11);
  std::vector<Array> inputs = random_inputs(*written.train_step, 5);
  // step, then per block kernel and W2; x is last in both.
  for (std::int64_t i = 0; i < layers; ++i) {
    for (const std::size_t part : {0U, 1U}) {
      inputs[1 + 2 * static_cast<std::size_t>(i) + part].data = slice(scan_inputs[1 + part], i);
    }
  }
  inputs.back() = scan_inputs.back();
  const std::vector<Array> scan_outputs = evaluate(*scanned.train_step, scan_inputs);
  const std::vector<Array> outputs = evaluate(*written.train_step, inputs);
  CHECK(scan_outputs[0].data == outputs[0].data);
  for (std::int64_t i = 0; i < layers; ++i) {
    for (const std::size_t part : {0U, 1U}) {
      CHECK(slice(scan_outputs[1 + part], i) ==
            outputs[1 + 2 * static_cast<std::size_t>(i) + part].data);
    }
  }
}

TEST_CASE("gradients of the guide agree with central differences in both forms") {
  CHECK(error_of(guide(false)) < 1e-6);
  CHECK(error_of(guide(true, 3)) < 1e-6);
}

TEST_CASE("biases and expressions inside a scanned block get their gradients") {
  ModelBuilder builder = small_scan();
  builder.block("Block", {let("start = x"), dense("hidden", true), word("tanh"),
                          dense("embed", true), let("y = start + 0.5 * Dense_1")});
  builder.config.blocks[0].layers[3].name = "Dense_1";
  builder.layer(repeat("Block", 3, true)).train("sgd", "mse");
  CHECK(error_of(builder.config) < 1e-6);
}

TEST_CASE("values that a repeat carries and keeps of each iteration get their gradients") {
  std::vector<Array> losses;
  for (const bool is_scan : {true, false}) {
    ModelBuilder builder = small_scan();
    builder.layer(param("scale", builder.type({"embed"}))).layer(let("first = x * scale"));
    builder.block("Block", {let("part = sin(part) * part"), let("got = part * x"),
                            let("y = tanh(x + part)")});
    builder.config.blocks[0].inputs = {"x", "part"};
    LayerConfig loop = of(repeat("Block", 3, is_scan), {"x", "first"});
    loop.repeat->carries = {"part"};
    loop.repeat->stacks = {"got"};
    loop.into = {"last", "all"};
    builder.layer(std::move(loop)).layer(let("sum = Block_end + last"));
    builder.config.layers[2].name = "Block_end";
    builder.layer(let("total = sum * reduce_sum(all)")).train("sgd");
    CHECK(error_of(builder.config) < 1e-6);
    const Model model = build_model(returning_gradients(builder.config));
    losses.push_back(evaluate(*model.train_step, random_inputs(*model.train_step, 3)).front());
  }
  REQUIRE(losses[0].data.size() == losses[1].data.size());
  CHECK(std::abs(losses[0].data.front() - losses[1].data.front()) < 1e-12);
}

TEST_CASE("an invariant of a loop sums its gradients over the iterations") {
  ModelBuilder builder = small_scan();
  builder.config.blocks.clear();
  builder.layer(param("scale", builder.type({"embed"})));
  builder.block("Block", {let("y = tanh(x * s) + x / s")});
  builder.config.blocks[0].inputs = {"x", "s"};
  builder.layer(of(repeat("Block", 3, true), {"x", "scale"}));
  builder.train("sgd");
  const Model model = build_model(returning_gradients(builder.config));
  verify(*model.train_step);
  std::vector<Array> inputs = random_inputs(*model.train_step, 3);
  for (double& s : inputs[1].data) s += 2;  // away from the division by zero
  CHECK(gradient_error(*model.train_step, {1}, inputs) < 1e-6);
}

TEST_CASE("a scan inside a scanned block stacks parameters twice and differentiates") {
  ModelBuilder builder = small_scan();
  builder.block("Inner", {dense("embed"), word("tanh")});
  LayerConfig inner = repeat("Inner", 2, true);
  inner.repeat->axis = LogicalAxis("inner");
  builder.block("Outer", {inner, dense("embed")});
  LayerConfig outer = repeat("Outer", 3, true);
  outer.repeat->axis = LogicalAxis("outer");
  builder.layer(outer).train("sgd", "mean");
  const Model model = build_model(builder.config);
  verify(*model.train_step);
  const auto leaf = std::find_if(model.state.begin(), model.state.end(), [](const StateLeaf& one) {
    return one.path == "params/ScanOuter_0/ScanInner_0/Dense_0/kernel";
  });
  REQUIRE(leaf != model.state.end());
  CHECK(to_string(leaf->type) == "f32[3,2,3,3]");
  CHECK(to_string(leaf->placement) == "[outer, inner, embed, embed]");
  CHECK(leaf->labels == std::vector<std::string>{"outer", "inner", "embed", "embed"});
  CHECK(error_of(builder.config) < 1e-6);
}

TEST_CASE("a scanned pattern is one loop over its blocks in turn") {
  ModelBuilder builder = small_scan();
  builder.block("Local", {dense("embed"), word("tanh")});
  builder.block("Global", {dense("embed"), word("sin")});
  LayerConfig pattern = repeat("Local", 3, true);
  pattern.repeat->pattern = {"Local", "Local", "Global"};
  builder.layer(pattern).train("sgd", "mean");
  const Model model = build_model(builder.config);
  verify(*model.train_step);
  std::vector<std::string> leaves;
  for (const StateLeaf& leaf : model.state) leaves.push_back(leaf.path + to_string(leaf.type));
  CHECK(leaves == std::vector<std::string>{
                      "stepi32[]", "params/ScanPattern_0/Global_0/Dense_0/kernelf32[3,3,3]",
                      "params/ScanPattern_0/Local_0/Dense_0/kernelf32[3,3,3]",
                      "params/ScanPattern_0/Local_1/Dense_0/kernelf32[3,3,3]"});
  CHECK(error_of(builder.config) < 1e-6);
}

TEST_CASE("a written-out repeat inside a scanned block differentiates") {
  ModelBuilder builder = small_scan();
  builder.block("Inner", {dense("embed"), word("sigmoid")});
  builder.block("Outer", {repeat("Inner", 2), word("sin")});
  builder.layer(repeat("Outer", 2, true)).train("sgd");
  CHECK(error_of(builder.config) < 1e-6);
}

TEST_CASE("constants inside a loop are made again instead of saved") {
  ModelBuilder builder = small_scan();
  builder.block("Block", {dense("embed"), let("y = 2 / (x * x + 1) + Dense_0")});
  builder.config.blocks[0].layers[0].name = "Dense_0";
  builder.layer(repeat("Block", 2, true)).train("sgd");
  CHECK(error_of(builder.config) < 1e-6);
  const Model model = build_model(builder.config);
  int stacks = 0;
  for (const Node& node : model.train_step->nodes) {
    if (node.op != Op::repeat || node.attributes.integer("reverse") != 0) continue;
    stacks = static_cast<int>(node.results.size()) - 1;
  }
  // x, and the divisor and quotient that the derivative of a division reads.
  CHECK(stacks == 3);
}

TEST_CASE("the partition name of a scan stands in front of labels and specs") {
  ModelConfig config = guide(true);
  config.layers[0].repeat->axis = LogicalAxis("layer");
  config.layers[0].repeat->has_axis = true;
  config.blocks[0].layers[3].kernel = std::nullopt;
  const Model model = build_model(config);
  CHECK(to_string(model.state[1].placement) == "P('layer', None, 'model')");
  CHECK(to_string(model.state[2].placement) == "[layer, hidden, embed]");
  CHECK(model.state[2].labels == std::vector<std::string>{"layer", "hidden", "embed"});
  CHECK(model.notes.empty());
}

TEST_CASE("an unannotated parameter stays so when it is stacked") {
  ModelConfig config = guide(true);
  config.blocks[0].layers[0].kernel = SpecConfig{};
  const Model model = build_model(config);
  CHECK(to_string(model.state[1].placement) == "null");
  CHECK(to_string(model.state[1].type) == "f32[2,4,8]");
}

TEST_CASE("the fans of a stacked parameter are those of one slice") {
  const Model model = build_model(guide(true, 3, 2, 4, 8));
  CHECK(model.state[1].init.kind == "truncated_normal");
  CHECK(model.state[1].init.scale == doctest::Approx(std::sqrt(2.0 / (4 + 8))));
}
