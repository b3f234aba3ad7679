// Every derivative of the op table against central differences.
#include <doctest/doctest.h>

#include <set>

#include "model/graph_builder.h"
#include "model/model.h"
#include "support/evaluate.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Dims = std::vector<std::int64_t>;

struct Case {
  Op op;
  std::vector<Shape> shapes;
  double low = 0.3;  ///< operands are drawn from [low, high)
  double high = 2.0;
  Attributes attributes;
};

/// Outputs loss = sum(op(x...) * w) and its gradients with respect to the operands; the inputs are
/// x... and w.
Graph graph_of(const Case& test) {
  Graph graph;
  GraphBuilder builder(graph);
  graph.placements.emplace_back();
  std::vector<ValueId> operands;
  const auto add_input = [&](TensorType type, const std::string& name) {
    const std::vector<std::string> labels(type.shape.size());
    const ValueId value = builder.add_value(std::move(type), name, labels, {});
    graph.inputs.push_back({value, name, Role::input, -1, {}});
    return value;
  };
  for (const Shape& shape : test.shapes) operands.push_back(add_input({DType::f64, shape}, "x"));
  const ValueId result = builder.emit(test.op, operands, test.attributes);
  const ValueId weights = add_input(TensorType(builder.type(result)), "w");
  const ValueId product = builder.emit(Op::multiply, {result, weights});
  Dims all(static_cast<std::size_t>(builder.type(product).rank()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const ValueId loss = builder.emit(Op::reduce_sum, {product}, Attributes{{"dims", all}});
  std::vector<ValueId> outputs = differentiate(graph, loss, operands);
  outputs.insert(outputs.begin(), loss);
  for (const ValueId value : outputs) {
    graph.outputs.push_back({value, "out", Role::output, -1, -1, std::nullopt});
  }
  Region& body = graph.regions.front();
  for (const GraphInput& input : graph.inputs) body.parameters.push_back(input.value);
  body.results = outputs;
  remove_dead_code(graph);
  verify(graph);
  return graph;
}

double error_of(const Case& test) {
  std::mt19937_64 random(7);
  Graph graph = graph_of(test);
  std::vector<Array> inputs;
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs.push_back(
        random_array(graph.value(graph.inputs[i].value).type, random, test.low, test.high));
    if (i < test.shapes.size()) wrt.push_back(i);
  }
  return gradient_error(graph, wrt, inputs);
}

const std::vector<Case>& cases() {
  static const Attributes placement{{"placement", std::int64_t{0}}};
  static const Attributes over_dim_1{{"dims", Dims{1}}};
  static const std::vector<Case> all = {
      {Op::relu, {{3, 2}}, -1, 1, {}},
      {Op::negate, {{3, 2}}, -1, 1, {}},
      {Op::abs, {{3, 2}}, -1, 1, {}},
      {Op::square, {{3, 2}}, -1, 1, {}},
      {Op::sqrt, {{3, 2}}, 0.3, 2, {}},
      {Op::rsqrt, {{3, 2}}, 0.3, 2, {}},
      {Op::exp, {{3, 2}}, -1, 1, {}},
      {Op::log, {{3, 2}}, 0.3, 2, {}},
      {Op::tanh, {{3, 2}}, -2, 2, {}},
      {Op::sigmoid, {{3, 2}}, -2, 2, {}},
      {Op::silu, {{3, 2}}, -2, 2, {}},
      {Op::gelu, {{3, 2}}, -2, 2, {}},
      {Op::sin, {{3, 2}}, -2, 2, {}},
      {Op::cos, {{3, 2}}, -2, 2, {}},
      {Op::sign, {{3, 2}}, 0.3, 2, {}},
      {Op::convert, {{3, 2}}, -1, 1, Attributes{{"dtype", std::string("f32")}}},
      {Op::constrain, {{3, 2}}, -1, 1, placement},
      {Op::scale, {{3, 2}}, -1, 1, Attributes{{"value", -1.5}}},
      {Op::shift, {{3, 2}}, -1, 1, Attributes{{"value", 2.0}}},
      {Op::add, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::add, {{}, {3, 2}}, -1, 1, {}},
      {Op::subtract, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::subtract, {{3, 2}, {}}, -1, 1, {}},
      {Op::multiply, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::multiply, {{}, {3, 2}}, -1, 1, {}},
      {Op::divide, {{3, 2}, {3, 2}}, 0.3, 2, {}},
      {Op::divide, {{}, {3, 2}}, 0.3, 2, {}},
      {Op::maximum, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::maximum, {{}, {3, 2}}, -1, 1, {}},
      {Op::minimum, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::power, {{3, 2}, {3, 2}}, 0.3, 2, {}},
      {Op::power, {{3, 2}, {}}, 0.3, 2, {}},
      {Op::relu_grad, {{3, 2}, {3, 2}}, 0.3, 2, {}},
      {Op::equal_mask, {{3, 2}, {3, 2}}, -1, 1, {}},
      {Op::reduce_sum, {{3, 2, 4}}, -1, 1, Attributes{{"dims", Dims{0, 2}}}},
      {Op::reduce_max, {{3, 4}}, -1, 1, over_dim_1},
      {Op::reduce_min, {{3, 4}}, -1, 1, over_dim_1},
      {Op::reduce_prod, {{3, 4}}, -1, 1, over_dim_1},
      {Op::transpose, {{3, 2, 4}}, -1, 1, Attributes{{"order", Dims{2, 0, 1}}}},
      {Op::broadcast, {{3, 1}}, -1, 1, Attributes{{"shape", Shape{2, 3, 4}}, {"dims", Dims{1, 2}}}},
      {Op::broadcast, {{3}}, -1, 1, Attributes{{"shape", Shape{3, 2}}, {"dims", Dims{0}}}},
      {Op::dot, {{2, 3}, {3, 4}}, -1, 1, dot_attributes({}, {}, {1}, {0})},
      {Op::dot, {{3, 2}, {4, 3}}, -1, 1, dot_attributes({}, {}, {0}, {1})},
      {Op::dot, {{3}, {3}}, -1, 1, dot_attributes({}, {}, {0}, {0})},
      {Op::dot, {{2, 5, 3}, {2, 3, 4}}, -1, 1, dot_attributes({0}, {0}, {2}, {1})},
      {Op::dot, {{5, 2, 3, 4}, {4, 6, 2, 3}}, -1, 1, dot_attributes({1}, {2}, {2, 3}, {3, 0})},
      {Op::dot, {{2, 3}, {4, 5}}, -1, 1, dot_attributes({}, {}, {}, {})},
  };
  return all;
}

std::vector<double> gradient(const Case& test, std::size_t operand,
                             const std::vector<std::vector<double>>& data) {
  Graph graph = graph_of(test);
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs.push_back(filled(graph.value(graph.inputs[i].value).type, 1));
    if (i < data.size()) inputs.back().data = data[i];
  }
  return evaluate(graph, inputs)[1 + operand].data;
}

}  // namespace

TEST_CASE("every derivative of the op table agrees with central differences") {
  for (const Case& test : cases()) {
    CAPTURE(def(test.op).name);
    CAPTURE(to_string(test.attributes));
    // Central differences with step 1e-5 in double are good to about 1e-9 on these functions.
    CHECK(error_of(test) < 1e-7);
  }
}

TEST_CASE("every op with a derivative is among those compared with central differences") {
  std::set<std::string_view> tested;
  for (const Case& test : cases()) tested.insert(def(test.op).name);
  for (const OpDef& row : op_table()) {
    CAPTURE(row.name);
    CHECK((row.derivative == nullptr) == !tested.contains(row.name));
  }
}

TEST_CASE("a tie of maximum gives each side half") {
  const Case test{Op::maximum, {{3}, {3}}, 0, 1, {}};
  const std::vector<std::vector<double>> data{{1, 2, 3}, {1, 5, 0}};
  CHECK(gradient(test, 0, data) == std::vector<double>{0.5, 0, 1});
  CHECK(gradient(test, 1, data) == std::vector<double>{0.5, 1, 0});
}

TEST_CASE("reduce_max shares the gradient evenly over the ties") {
  const Case test{Op::reduce_max, {{4}}, 0, 1, Attributes{{"dims", Dims{0}}}};
  CHECK(gradient(test, 0, {{2, 2, 1, 0}}) == std::vector<double>{0.5, 0.5, 0, 0});
}

TEST_CASE("the gradient of a product is right where elements are zero") {
  const Case test{Op::reduce_prod, {{3}}, 0, 1, Attributes{{"dims", Dims{0}}}};
  CHECK(gradient(test, 0, {{2, 3, 4}}) == std::vector<double>{12, 8, 6});
  CHECK(gradient(test, 0, {{0, 3, 4}}) == std::vector<double>{12, 0, 0});
  CHECK(gradient(test, 0, {{0, 0, 4}}) == std::vector<double>{0, 0, 0});
}

TEST_CASE("the gradient of a power is finite at zero to the zero") {
  const Case test{Op::power, {{3}, {3}}, 0, 1, {}};
  CHECK(gradient(test, 0, {{0, 0, 2}, {0, 2, 0}}) == std::vector<double>{0, 0, 0});
  CHECK(gradient(test, 1, {{0, 0, 1}, {0, 2, 5}}) == std::vector<double>{0, 0, 0});
}

TEST_CASE("relu has no gradient at zero") {
  const Case test{Op::relu, {{3}}, 0, 1, {}};
  CHECK(gradient(test, 0, {{-1, 0, 1}}) == std::vector<double>{0, 0, 1});
}
