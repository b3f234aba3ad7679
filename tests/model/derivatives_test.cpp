// Every derivative of the op table against central differences.
#include <doctest/doctest.h>

#include <set>

#include "model/graph_builder.h"
#include "model/model.h"
#include "ops/index_dims.h"
#include "ops/window_dims.h"
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
  std::vector<Array> fixed = {};  ///< further operands, that do not move
  bool fixed_first = false;       ///< they come before the others
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
  std::vector<ValueId> all_operands = operands;
  std::vector<ValueId> fixed;
  for (const Array& array : test.fixed) fixed.push_back(add_input(array.type, "fixed"));
  all_operands.insert(test.fixed_first ? all_operands.begin() : all_operands.end(), fixed.begin(),
                      fixed.end());
  const ValueId result = builder.emit_all(test.op, all_operands, test.attributes).front();
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
    const std::size_t moving = test.shapes.size();
    inputs.push_back(
        i >= moving && i < moving + test.fixed.size()
            ? test.fixed[i - moving]
            : random_array(graph.value(graph.inputs[i].value).type, random, test.low, test.high));
    if (i < moving) wrt.push_back(i);
  }
  return gradient_error(graph, wrt, inputs);
}

Array integers(Shape shape, std::vector<double> numbers) {
  return {{DType::i32, std::move(shape)}, std::move(numbers)};
}

/// Rows of a table by an index, some of them twice, one beyond the end.
Attributes row_lookup(const char* mode) {
  IndexDims dims;
  dims.window = {1};
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = 1;
  Attributes attributes = dims.attributes();
  attributes.set("slice_sizes", Dims{1, 2});
  attributes.set("mode", std::string(mode));
  return attributes;
}

/// The ops beyond those of plain layers.
std::vector<Case> further_cases() {
  const Attributes to_24{{"shape", Shape{4, 6}}};
  const Attributes cut{{"start", Dims{1, 0}}, {"limit", Dims{6, 3}}, {"stride", Dims{2, 1}}};
  const Attributes padded{{"low", Dims{-1, 1}}, {"high", Dims{2, -1}}, {"interior", Dims{1, 0}}};
  const Attributes last{{"dim", std::int64_t{1}}, {"reverse", std::int64_t{0}}};
  const Attributes backwards{{"dim", std::int64_t{0}}, {"reverse", std::int64_t{1}}};
  const Attributes sorted{{"dim", std::int64_t{1}}, {"keys", std::int64_t{1}}};
  const Array starts = integers({}, {1}), five = integers({5}, {2, 0, 2, 3, 9});
  const Array truth{{DType::boolean, {3, 2}}, {1, 0, 0, 1, 1, 0}};
  const Attributes odd_windows{{"window", Dims{2, 3}},   {"strides", Dims{1, 2}},
                               {"low", Dims{1, 1}},      {"high", Dims{0, 1}},
                               {"dilation", Dims{1, 1}}, {"base_dilation", Dims{1, 1}}};
  const auto dropped = [](Dims counts) {
    return Attributes{{"rate", 0.5}, {"stream", std::int64_t{3}}, {"counts", std::move(counts)}};
  };
  const Attributes all_bits{{"exponent_bits", std::int64_t{11}},
                            {"mantissa_bits", std::int64_t{52}}};
  const auto convolved = [](std::int64_t features, std::int64_t batches) {
    const ConvolutionDims dims{{0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}, features, batches};
    return convolution_attributes(dims, {{}, {2, 1}, {1, 0}, {1, 2}, {1, 2}, {1, 2}});
  };
  const auto order = [](std::int64_t n) { return Attributes{{"order", n}}; };
  return {
      {Op::expm1, {{3, 2}}, -1, 1, {}},
      {Op::log1p, {{3, 2}}, -0.5, 2, {}},
      {Op::exp2, {{3, 2}}, -1, 1, {}},
      {Op::erf, {{3, 2}}, -2, 2, {}},
      {Op::erfc, {{3, 2}}, -2, 2, {}},
      {Op::erf_inv, {{3, 2}}, -0.8, 0.8, {}},
      {Op::lgamma, {{3, 2}}, 0.5, 4, {}},
      {Op::polygamma, {{3, 2}}, 1, 4, order(0)},
      {Op::polygamma, {{3, 2}}, 1, 4, order(2)},
      {Op::cbrt, {{3, 2}}, 0.3, 2, {}},
      {Op::tan, {{3, 2}}, -1, 1, {}},
      {Op::asin, {{3, 2}}, -0.8, 0.8, {}},
      {Op::acos, {{3, 2}}, -0.8, 0.8, {}},
      {Op::atan, {{3, 2}}, -2, 2, {}},
      {Op::sinh, {{3, 2}}, -2, 2, {}},
      {Op::cosh, {{3, 2}}, -2, 2, {}},
      {Op::asinh, {{3, 2}}, -2, 2, {}},
      {Op::acosh, {{3, 2}}, 1.3, 3, {}},
      {Op::atanh, {{3, 2}}, -0.8, 0.8, {}},
      {Op::floor, {{3, 2}}, 0.3, 0.6, {}},
      {Op::ceil, {{3, 2}}, 0.3, 0.6, {}},
      {Op::round, {{3, 2}}, 0.6, 0.9, {}},
      {Op::round_away, {{3, 2}}, 0.6, 0.9, {}},
      {Op::remainder, {{3, 2}, {3, 2}}, 0.3, 2, {}},
      {Op::remainder, {{3, 2}, {}}, 0.3, 2, {}},
      {Op::atan2, {{3, 2}, {3, 2}}, 0.3, 2, {}},
      {Op::atan2, {{}, {3, 2}}, 0.3, 2, {}},
      {Op::select, {{3, 2}, {3, 2}}, -1, 1, {}, {truth}, true},
      {Op::select, {{}, {3, 2}}, -1, 1, {}, {truth}, true},
      {Op::reshape, {{2, 3, 4}}, -1, 1, to_24},
      {Op::slice, {{6, 4}}, -1, 1, cut},
      {Op::concatenate, {{2, 3}, {2, 1}, {2, 2}}, -1, 1, Attributes{{"dim", std::int64_t{1}}}},
      {Op::pad, {{4, 3}, {}}, -1, 1, padded},
      {Op::reverse, {{3, 2}}, -1, 1, Attributes{{"dims", Dims{0}}}},
      {Op::ppermute,
       {{4, 2}},
       -1,
       1,
       Attributes{{"dim", std::int64_t{0}}, {"source", Dims{2, -1, 1, 0}}}},
      {Op::ragged_all_to_all,
       {{2, 3, 2}, {2, 4, 2}},
       -1,
       1,
       Attributes{{"dims", Dims{0}}},
       {integers({2, 4}, {0, 1, 2, 2, 0, 0, 2, 1}), integers({2, 4}, {1, 1, 1, 0, 0, 1, 1, 1}),
        integers({2, 4}, {0, 3, 2, 0, 1, 2, 0, 1}), integers({2, 4}, {1, 1, 0, 1, 1, 0, 1, 1})}},
      {Op::dynamic_slice, {{4, 3}}, -1, 1, Attributes{{"sizes", Dims{2, 2}}}, {starts, starts}},
      {Op::dynamic_update_slice, {{4, 3}, {2, 2}}, -1, 1, {}, {starts, starts}},
      {Op::gather, {{4, 2}}, -1, 1, row_lookup("clip"), {five}},
      {Op::gather, {{4, 2}}, -1, 1, row_lookup("clip"), {integers({2}, {-3, 1})}},
      {Op::ragged_dot, {{5, 3}, {2, 3, 4}}, -1, 1, {}, {integers({2}, {3, 1})}},
      {Op::ragged_outer,
       {{5, 3}, {5, 2}},
       -1,
       1,
       Attributes{{"groups", std::int64_t{2}}},
       {integers({2}, {1, 3})}},
      {Op::cumsum, {{3, 4}}, -1, 1, last},
      {Op::cumsum, {{3, 4}}, -1, 1, backwards},
      {Op::cumprod, {{3, 4}}, -1, 1, last},
      {Op::cumprod, {{3, 4}}, -1, 1, backwards},
      {Op::cummax, {{3, 4}}, -1, 1, last},
      {Op::cummax, {{3, 4}}, -1, 1, backwards},
      {Op::cummin, {{3, 4}}, -1, 1, last},
      {Op::cummin, {{3, 4}}, -1, 1, backwards},
      {Op::cumlogsumexp, {{3, 4}}, -1, 1, last},
      {Op::cumlogsumexp, {{3, 4}}, -1, 1, backwards},
      {Op::linear_recurrence, {{3, 4}, {3, 4}}, -1, 1, last},
      {Op::linear_recurrence, {{3, 4}, {3, 4}}, -1, 1, backwards},
      {Op::sort, {{3, 4}}, -1, 1, sorted},
      {Op::reduce_window_sum, {{4, 5}}, -1, 1, odd_windows},
      {Op::reduce_window_max, {{4, 5}}, -1, 1, odd_windows},
      {Op::reduce_window_min, {{4, 5}}, -1, 1, odd_windows},
      {Op::convolution, {{2, 4, 5, 3}, {2, 3, 3, 4}}, -1, 1, convolved(1, 1)},
      {Op::convolution, {{2, 4, 5, 4}, {2, 3, 2, 6}}, -1, 1, convolved(2, 1)},
      {Op::convolution, {{4, 4, 5, 3}, {2, 3, 3, 4}}, -1, 1, convolved(1, 2)},
      {Op::optimization_barrier, {{3, 2}}, -1, 1, {}},
      {Op::reduce_precision, {{3, 2}}, -1, 1, all_bits},
      {Op::dropout, {{3, 4}}, -1, 1, dropped({3, 4}), {integers({}, {5})}},
      {Op::dropout, {{3, 4}}, -1, 1, dropped({3, 1}), {integers({}, {5})}},
      {Op::top_k, {{3, 4}}, -1, 1, Attributes{{"k", std::int64_t{2}}}},
  };
}

/// Of a table of four rows to which five updates come, two of them to one row.
double scatter_error(Op op, const char* mode) {
  Graph graph;
  GraphBuilder builder(graph);
  const auto add_input = [&](TensorType type) {
    const std::vector<std::string> labels(type.shape.size());
    const ValueId value = builder.add_value(std::move(type), "x", labels, {});
    graph.inputs.push_back({value, "x", Role::input, -1, {}});
    return value;
  };
  const ValueId x = add_input({DType::f64, {4, 2}}), at = add_input({DType::i32, {5}}),
                updates = add_input({DType::f64, {5, 2}}), w = add_input({DType::f64, {4, 2}});
  const ValueId result = builder.emit(op, {x, at, updates}, row_lookup(mode));
  const ValueId product = builder.emit(Op::multiply, {result, w});
  const ValueId loss = builder.emit(Op::reduce_sum, {product}, Attributes{{"dims", Dims{0, 1}}});
  std::vector<ValueId> outputs = differentiate(graph, loss, {x, updates});
  outputs.insert(outputs.begin(), loss);
  for (const ValueId value : outputs) {
    graph.outputs.push_back({value, "out", Role::output, -1, -1, std::nullopt});
  }
  Region& body = graph.regions.front();
  for (const GraphInput& input : graph.inputs) body.parameters.push_back(input.value);
  body.results = outputs;
  verify(graph);
  std::mt19937_64 random(7);
  std::vector<Array> inputs;
  for (const GraphInput& input : graph.inputs) {
    inputs.push_back(random_array(graph.value(input.value).type, random, -1, 1));
  }
  inputs[1] = integers({5}, {2, 0, 2, 3, 9});
  return gradient_error(graph, {0, 2}, inputs);
}

const std::vector<Case>& cases() {
  static const Attributes placement{{"placement", std::int64_t{0}}};
  static const Attributes over_dim_1{{"dims", Dims{1}}};
  static const std::vector<Case> plain = {
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
  static const std::vector<Case> all = [] {
    std::vector<Case> joined = plain;
    for (Case& one : further_cases()) joined.push_back(std::move(one));
    return joined;
  }();
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

TEST_CASE("derivatives of scatters agree with central differences") {
  // (x, indices, updates): the moving operands are not side by side.
  for (const char* mode : {"clip", "fill"}) {
    for (const Op op :
         {Op::scatter_add, Op::scatter_set, Op::scatter_max, Op::scatter_min, Op::scatter_mul}) {
      CAPTURE(def(op).name);
      CHECK(scatter_error(op, mode) < 1e-7);
    }
  }
}

TEST_CASE("every op with a derivative is among those compared with central differences") {
  // The scatters, complex numbers and clamp have tests of their own; what gives no floats, or stops
  // the gradient, has no slope to compare.
  std::set<std::string_view> tested = {"custom_call",
                                       "complex",
                                       "real",
                                       "imag",
                                       "conjugate",
                                       "fft",
                                       "scatter_add",
                                       "scatter_set",
                                       "scatter_max",
                                       "scatter_min",
                                       "scatter_mul",
                                       "eq",
                                       "ne",
                                       "lt",
                                       "le",
                                       "gt",
                                       "ge",
                                       "is_finite",
                                       "bitwise_and",
                                       "bitwise_or",
                                       "bitwise_xor",
                                       "bitwise_not",
                                       "shift_left",
                                       "shift_right_arithmetic",
                                       "shift_right_logical",
                                       "clamp",
                                       "stop_gradient",
                                       "population_count",
                                       "bitcast",
                                       "random_bits",
                                       "count_leading_zeros",
                                       "reduce_and",
                                       "reduce_or",
                                       "argmax",
                                       "argmin"};
  for (const Case& test : cases()) tested.insert(def(test.op).name);
  for (const OpDef& row : op_table()) {
    CAPTURE(row.name);
    CHECK((row.derivative == nullptr) == !tested.contains(row.name));
  }
}

TEST_CASE("the gradient of a cumulated product is right where elements are zero") {
  const Attributes line{{"dim", std::int64_t{0}}, {"reverse", std::int64_t{0}}};
  const Case test{Op::cumprod, {{3}}, 0, 1, line};
  CHECK(gradient(test, 0, {{2, 0, 4}}) == std::vector<double>{1, 10, 0});
}

TEST_CASE("clamp hands the gradient to whichever operand it chose") {
  const Case test{Op::clamp, {{4}, {4}, {4}}, 0, 1, {}};
  const std::vector<std::vector<double>> data{{0, 0, 0, 0}, {-1, 0.5, 2, 1}, {1, 1, 1, 1}};
  CHECK(gradient(test, 0, data) == std::vector<double>{1, 0, 0, 0});
  CHECK(gradient(test, 1, data) == std::vector<double>{0, 1, 0, 0});
  CHECK(gradient(test, 2, data) == std::vector<double>{0, 0, 1, 0});
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
