// Losses, optimizers and initial values.
#include <doctest/doctest.h>

#include <cmath>

#include "model/initial_values.h"
#include "model/model.h"
#include "support/evaluate.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// y = x * w with x = [3, -1], w = [2, 2].
ModelBuilder scaled(const std::string& optimizer, const std::string& loss = "sum") {
  ModelBuilder builder({{"n", 2}});
  builder.input("x", {"n"}).layer(param("w", builder.type({"n"}))).layer(let("y = x * w"));
  builder.train(optimizer, loss);
  return builder;
}

/// The values of the outputs after one step from w = 2, x = [3, -1]; everything else is zero.
std::vector<std::vector<double>> step(const Model& model) {
  std::vector<Array> inputs;
  for (const GraphInput& input : model.train_step->inputs) {
    inputs.push_back(filled(model.train_step->value(input.value).type, 0));
    if (input.path == "x") inputs.back().data = {3, -1};
    if (input.path == "params/w") inputs.back().data = {2, 2};
  }
  std::vector<std::vector<double>> values;
  for (const Array& array : evaluate(*model.train_step, inputs)) values.push_back(array.data);
  return values;
}

std::vector<std::string> paths(const Model& model) {
  std::vector<std::string> names;
  for (const StateLeaf& leaf : model.state) names.push_back(leaf.path);
  return names;
}

std::string attributes_of(const Model& model, Op op) {
  for (const Node& node : model.train_step->nodes) {
    if (node.op == op) return to_string(node.attributes);
  }
  return "";
}

std::string init_text(const std::string& kind, const Shape& shape,
                      std::vector<std::pair<std::string, double>> arguments = {}) {
  Diagnostics diagnostics;
  const auto init = initial_value({kind, std::move(arguments), line(4)}, shape, diagnostics);
  if (!init) return to_string(diagnostics.all().front());
  return init->kind + " " + std::to_string(init->scale);
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("sgd has no state beside the step") {
  const Model model = build_model(scaled("sgd").config);
  verify(*model.train_step);
  CHECK(paths(model) == Lines{"step", "params/w"});
  CHECK(attributes_of(model, Op::sgd_update) == "{learning_rate=0.001}");
  const auto values = step(model);
  CHECK(values[0] == std::vector<double>{1});
  CHECK(values[1][0] == doctest::Approx(2 - 0.001 * 3));
  CHECK(values[1][1] == doctest::Approx(2 + 0.001));
  CHECK(values[2] == std::vector<double>{4});  // the loss: 6 - 2
}

TEST_CASE("momentum keeps a trace per parameter") {
  ModelConfig config = scaled("momentum").config;
  config.train->optimizer.arguments = {{"learning_rate", 0.1}, {"nesterov", 1}};
  const Model model = build_model(config);
  verify(*model.train_step);
  CHECK(paths(model) == Lines{"step", "params/w", "opt_state/0/trace/w"});
  CHECK(attributes_of(model, Op::momentum_update) == "{learning_rate=0.1, decay=0.9, nesterov=1}");
  const auto values = step(model);
  CHECK(values[1][0] == doctest::Approx(2 - 0.1 * (3 + 0.9 * 3)));
  CHECK(values[2] == std::vector<double>{3, -1});
}

TEST_CASE("adam counts its steps and moves by the learning rate in the first one") {
  const Model model = build_model(scaled("adam").config);
  CHECK(paths(model) ==
        Lines{"step", "params/w", "opt_state/0/count", "opt_state/0/mu/w", "opt_state/0/nu/w"});
  const auto values = step(model);
  CHECK(values[1][0] == doctest::Approx(2 - 0.001));
  CHECK(values[1][1] == doctest::Approx(2 + 0.001));
  CHECK(values[2] == std::vector<double>{1});
  CHECK(values[3][0] == doctest::Approx(0.1 * 3));
  CHECK(values[4][0] == doctest::Approx(0.001 * 9));
}

TEST_CASE("adamw is adam with a decay of the weights") {
  const Model model = build_model(scaled("adamw").config);
  CHECK(attributes_of(model, Op::adam_update) ==
        "{learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08, eps_root=0.0, weight_decay=1e-04}");
  CHECK(step(model)[1][0] == doctest::Approx(2 - 0.001 * (1 + 0.0001 * 2)));
}

TEST_CASE("slots have the dtype of the state and the place of their parameter") {
  ModelConfig config = guide(false, 1);
  config.dtypes.state = DType::bf16;
  const Model model = build_model(config);
  verify(*model.train_step);
  const StateLeaf& mu = model.state[4];
  CHECK(mu.path == "opt_state/0/mu/DotReluDot_0/Dense_0/kernel");
  CHECK(to_string(mu.type) == "bf16[4,8]");
  CHECK(to_string(mu.placement) == "P(None, 'model')");
  CHECK(mu.labels == Lines{"embed", "hidden"});
  CHECK(model.state[static_cast<std::size_t>(mu.follows)].path ==
        "params/DotReluDot_0/Dense_0/kernel");
}

TEST_CASE("losses are sums and means and means of squares over all outputs") {
  CHECK(step(build_model(scaled("sgd", "sum").config))[2] == std::vector<double>{4});
  CHECK(step(build_model(scaled("sgd", "mean").config))[2] == std::vector<double>{2});
  CHECK(step(build_model(scaled("sgd", "mse").config))[2] == std::vector<double>{20});
  ModelBuilder two = scaled("sgd", "mean");
  two.layer(let("z = x + 0 * y")).output("y", {}).output("z", {});
  CHECK(step(build_model(two.config))[2] == std::vector<double>{1.5});
}

TEST_CASE("a parameter that the loss does not need gets a zero gradient") {
  ModelBuilder builder = scaled("sgd");
  builder.layer(param("unused", builder.type({"n"})));
  builder.config.train->returns_grads = true;
  const Model model = build_model(builder.config);
  verify(*model.train_step);
  const auto values = step(model);
  CHECK(model.train_step->outputs[4].path == "grads/unused");
  CHECK(values[4] == std::vector<double>{0, 0});
  CHECK(values[5] == std::vector<double>{3, -1});
}

TEST_CASE("initial values have the spread that Flax gives them") {
  CHECK(init_text("zeros", {4}) == "zeros 0.000000");
  CHECK(init_text("ones", {}) == "ones 1.000000");
  CHECK(init_text("constant", {4}, {{"value", 0.5}}) == "constant 0.500000");
  CHECK(init_text("normal", {4}) == "normal 0.010000");
  CHECK(init_text("normal", {4}, {{"stddev", 0.02}}) == "normal 0.020000");
  CHECK(init_text("truncated_normal", {4}, {{"stddev", 2}}) == "truncated_normal 2.000000");
  CHECK(init_text("lecun_normal", {4, 16}) == "truncated_normal 0.500000");
  CHECK(init_text("he_normal", {8, 16}) == "truncated_normal 0.500000");
  CHECK(init_text("xavier_normal", {2, 6}) == "truncated_normal 0.500000");
  CHECK(init_text("glorot_normal", {2, 6}) == "truncated_normal 0.500000");
  CHECK(init_text("lecun_uniform", {12, 5}) == "uniform 0.500000");
  CHECK(init_text("he_uniform", {24, 5}) == "uniform 0.500000");
  CHECK(init_text("xavier_uniform", {10, 14}) == "uniform 0.500000");
  CHECK(init_text("lecun_normal", {2, 2, 16}) == "truncated_normal 0.500000");
}

TEST_CASE("initial values that cannot be worked out say why") {
  CHECK(init_text("xavier_normal", {4}) ==
        "model.yaml:4:5: error: xavier_normal needs a shape of at least two dims, this one is [4] "
        "[init-rank]\n  hint: use zeros, ones, constant or normal");
  CHECK(init_text("xavier_norml", {4, 4}) ==
        "model.yaml:4:5: error: there is no initial value 'xavier_norml' [unknown-init]\n"
        "  hint: did you mean 'xavier_normal'? valid: zeros, ones, constant, normal, "
        "truncated_normal, lecun_normal, lecun_uniform, he_normal, he_uniform, xavier_normal, "
        "xavier_uniform, glorot_normal, glorot_uniform");
  CHECK(init_text("normal", {4}, {{"std", 1}}) ==
        "model.yaml:4:5: error: normal takes no 'std' [unknown-argument]\n  hint: valid: stddev");
  CHECK(init_text("zeros", {4}, {{"std", 1}}) ==
        "model.yaml:4:5: error: zeros takes no 'std' [unknown-argument]\n"
        "  hint: it takes no arguments");
  CHECK(init_text("uniform", {4}) ==
        "model.yaml:4:5: error: initial value 'uniform' is not built by this version [not-yet]\n"
        "  hint: use one of: normal, truncated_normal, xavier_uniform");
}
