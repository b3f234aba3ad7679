#include "exec/compare_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "exec/element.h"
#include "exec/reference.h"
#include "exec/tolerances.h"
#include "model/graph_builder.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

constexpr float rate = 0.01F;

const char* const one_kernel = "  - dense: {features: hidden, use_bias: false}\n";

std::string model_text(const std::string& layers, const std::string& optimizer) {
  return R"(name: one
sizes: {batch: 2, embed: 4, hidden: 4}
inputs: {x: [batch, embed]}
layers:
)" + layers +
         "train: {loss: sum, optimizer: {" + optimizer + "}, returns: [state]}\n";
}
const char* const rules_text = "mesh: {data: 1}\nrules: [[batch, data]]\n";

/// One adam step of y = x W with the loss sum(y): the gradient of row i of W is the sum of column i
/// of x. Row 0 has one within rounding of 0, row 1 has none but zeros to add up, those of row 3
/// cancel out exactly.
struct Step {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> results;
  std::size_t kernel = 0;  ///< its position among the outputs

  explicit Step(const std::string& optimizer = "adam: {learning_rate: 1e-2}",
                const std::string& layers = one_kernel,
                const std::string& path = "params/Dense_0/kernel")
      : graph(plan_texts(model_text(layers, optimizer), rules_text).sharded.graph) {
    for (const GraphInput& input : graph.inputs) {
      inputs.push_back(zeros(graph.value(input.value).type));
      if (input.path == "x") {
        const float x[8] = {1, 0, 1, 2, -1 + 1e-7F, 0, 3, -2};
        std::copy(std::begin(x), std::end(x), inputs.back().data<float>());
      } else if (input.path.starts_with("params/")) {
        for (int i = 0; i < 16; ++i) inputs.back().data<float>()[i] = 0.1F * static_cast<float>(i);
      }
    }
    results = run_reference(graph, inputs);
    kernel = place_of(path);
  }

  std::size_t place_of(const std::string& path) const {
    std::size_t place = 0;
    while (graph.outputs.at(place).path != path) ++place;
    return place;
  }

  /// The comparison when element `index` of the kernel is `by` larger than the reference's.
  StepComparison with_error(int index, float by) const {
    std::vector<HostTensor> actual = results;
    actual[kernel].data<float>()[index] += by;
    return compare_step(graph, inputs, actual);
  }

  bool accepts(int index, float by) const {
    for (const Difference& one : with_error(index, by).differences) {
      if (!one.is_ok()) return false;
    }
    return true;
  }
};

constexpr int in_row_0 = 1;
constexpr int in_row_1 = 5;
constexpr int in_row_2 = 9;
constexpr int in_row_3 = 13;

}  // namespace

TEST_CASE("results that are the reference's are equal") {
  const Step step;
  const StepComparison comparison = compare_step(step.graph, step.inputs, step.results);
  CHECK(comparison.differences.size() == step.graph.outputs.size());
  CHECK(comparison.undetermined == 0);
  for (const Difference& one : comparison.differences) CHECK(one.largest == 0);
}

TEST_CASE("a parameter whose gradient is certain may differ by the tolerance only") {
  const Step step;
  CHECK(step.accepts(in_row_2, 1e-6F));
  CHECK_FALSE(step.accepts(in_row_2, 1e-3F));
  CHECK_FALSE(step.accepts(in_row_2, 1.9F * rate));
}

TEST_CASE("a parameter whose gradient is within rounding of 0 may have gone either way") {
  const Step step;
  CHECK(step.accepts(in_row_0, 1.9F * rate));
  CHECK(step.with_error(in_row_0, 1.9F * rate).undetermined == 1);
  CHECK_FALSE(step.accepts(in_row_0, 3 * rate));
  CHECK_FALSE(step.accepts(in_row_0, -rate));
}

TEST_CASE("an update of several ops may enlarge a gradient within rounding of 0 too") {
  const Step step("multi_steps: {optimizer: {adam: 1e-2}, every: 1}");
  CHECK(step.accepts(in_row_0, 1.9F * rate));
  CHECK(step.with_error(in_row_0, 1.9F * rate).undetermined == 1);
  CHECK_FALSE(step.accepts(in_row_0, 3 * rate));
  CHECK_FALSE(step.accepts(in_row_1, rate));
  CHECK(step.accepts(in_row_2, 1e-6F));
  CHECK_FALSE(step.accepts(in_row_2, 1e-3F));
}

TEST_CASE("in a later step any gradient within rounding may have been the one") {
  // Moments after a step whose gradient in row 0 was 1e-5, of which 0 is within rounding.
  Step step;
  constexpr float earlier = 1e-5F;
  HostTensor* x = nullptr;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const std::string& path = step.graph.inputs[i].path;
    HostTensor& input = step.inputs[i];
    if (path == "x") x = &input;
    if (path == "opt_state/0/count") *input.data<std::int32_t>() = 1;
    for (int column = 0; column < 4; ++column) {
      if (path == "opt_state/0/mu/Dense_0/kernel") input.data<float>()[column] = 0.1F * earlier;
      if (path == "opt_state/0/nu/Dense_0/kernel") {
        input.data<float>()[column] = 0.001F * earlier * earlier;
      }
    }
  }
  REQUIRE(x != nullptr);
  step.results = run_reference(step.graph, step.inputs);
  // The same gradient again: a whole learning rate, more than either end of the range gives.
  std::vector<HostTensor> other = step.inputs;
  other[static_cast<std::size_t>(x - step.inputs.data())].data<float>()[4] = -1 + earlier;
  const HostTensor moved = run_reference(step.graph, other)[step.kernel];
  const float by =
      moved.data<float>()[in_row_0] - step.results[step.kernel].data<float>()[in_row_0];
  CHECK(by < -0.2F * rate);
  CHECK(step.accepts(in_row_0, by));
  CHECK(step.with_error(in_row_0, by).undetermined == 1);
  CHECK_FALSE(step.accepts(in_row_0, by - 0.05F * rate));
  CHECK_FALSE(step.accepts(in_row_2, by));
}

TEST_CASE("a parameter whose gradient is exactly 0 must stay") {
  const Step step;
  CHECK(step.accepts(in_row_1, 0));
  CHECK_FALSE(step.accepts(in_row_1, rate));
}

TEST_CASE("a gradient of addends that cancel out may have any sign") {
  const Step step;
  for (const float by : {rate, -rate}) {
    CHECK(step.accepts(in_row_3, by));
    CHECK(step.with_error(in_row_3, by).undetermined == 1);
    CHECK_FALSE(step.accepts(in_row_3, 1.1F * by));
  }
}

TEST_CASE("every array that needs a closer look gets one") {
  const Step step("adam: {learning_rate: 1e-2}",
                  "  - param: {name: a, axes: [embed, hidden]}\n"
                  "  - param: {name: b, axes: [embed, hidden]}\n"
                  "  - let: y = x @ a + x @ b\n",
                  "params/a");
  const auto accepts = [&](float by_a, float by_b) {
    std::vector<HostTensor> actual = step.results;
    actual[step.place_of("params/a")].data<float>()[in_row_3] += by_a;
    actual[step.place_of("params/b")].data<float>()[in_row_3] += by_b;
    const StepComparison comparison = compare_step(step.graph, step.inputs, actual);
    return std::all_of(comparison.differences.begin(), comparison.differences.end(),
                       [](const Difference& one) { return one.is_ok(); });
  };
  CHECK(accepts(rate, -rate));
  CHECK(accepts(0, rate));
  CHECK_FALSE(accepts(rate, 1.1F * rate));
  CHECK_FALSE(accepts(1.1F * rate, rate));
  CHECK_FALSE(accepts(1.1F * rate, 1.1F * rate));
}

TEST_CASE("a result that is not a number is not ok wherever it is") {
  const Step step;
  for (const int index : {in_row_0, in_row_1, in_row_2}) {
    CHECK_FALSE(step.accepts(index, std::numeric_limits<float>::quiet_NaN()));
  }
}

TEST_CASE("wider formats are compared more strictly and integers exactly") {
  CHECK(comparison_tolerance(DType::i32) == 0);
  CHECK(comparison_tolerance(DType::f64) < comparison_tolerance(DType::f32));
  CHECK(comparison_tolerance(DType::f32) < comparison_tolerance(DType::f16));
  CHECK(comparison_tolerance(DType::f16) < comparison_tolerance(DType::bf16));
}

TEST_CASE("what was rounded to 16 bits on the way is compared as coarsely at the end") {
  Graph graph;
  GraphBuilder build(graph);
  const ValueId x = build.add_value({DType::f32, {4}}, "x", {""}, {});
  const ValueId narrow = build.emit(Op::convert, {x}, Attributes{{"dtype", std::string("bf16")}});
  const ValueId wide = build.emit(Op::convert, {narrow}, Attributes{{"dtype", std::string("f32")}});
  const ValueId exact = build.emit(Op::negate, {x}, {});
  const std::vector<Tolerance> tolerances = tolerances_of(graph);
  CHECK(tolerances[index_of(x)] == Tolerance{});
  CHECK(tolerances[index_of(narrow)].relative == comparison_tolerance(DType::bf16));
  CHECK(tolerances[index_of(wide)].relative == comparison_tolerance(DType::bf16));
  CHECK(tolerances[index_of(exact)].relative == comparison_tolerance(DType::f32));
}

namespace {

/// y = relu(x W) V in bf16, with a unit that rounding alone puts to one side of 0.
struct NarrowStep {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> results;

  NarrowStep() : graph(plan_texts(text(), rules_text).sharded.graph) {
    for (const GraphInput& input : graph.inputs) {
      const TensorType& type = graph.value(input.value).type;
      inputs.push_back(zeros(type));
      std::vector<double> numbers(static_cast<std::size_t>(element_count(type.shape)), 0.0);
      for (std::size_t i = 0; i < numbers.size() && info(type.dtype).is_float; ++i) {
        numbers[i] = i % 3 == 0 ? 0.3 : -0.7 + 0.1 * static_cast<double>(i);
      }
      if (input.path.starts_with("opt_state")) std::fill(numbers.begin(), numbers.end(), 0.0);
      from_doubles(numbers.data(), type.dtype, inputs.back().bytes.data(), numbers.size());
    }
    results = run_reference(graph, inputs);
  }

  static std::string text() {
    return R"(name: two
dtype: bf16
sizes: {batch: 2, embed: 4, hidden: 4}
inputs: {x: [batch, embed]}
layers:
  - dense: {features: hidden, use_bias: false}
  - relu
  - dense: {features: embed, use_bias: false}
train: {loss: sum, optimizer: {sgd: {learning_rate: 1e-2}}, returns: [state]}
)";
  }
};

}  // namespace

TEST_CASE("runs that round up or down at random are equal where 16 bits tell them apart") {
  const NarrowStep step;
  std::mt19937_64 random(7);
  const std::vector<HostTensor> other =
      run_reference_rounded_anyhow(step.graph, step.inputs, random);
  int differing = 0;
  for (std::size_t output = 0; output < other.size(); ++output) {
    if (other[output].bytes != step.results[output].bytes) ++differing;
  }
  CHECK(differing > 0);
  const StepComparison comparison = compare_step(step.graph, step.inputs, other);
  for (const Difference& one : comparison.differences) CHECK(one.is_ok());
}

TEST_CASE("a result of 16 bits that no rounding gives is not equal") {
  const NarrowStep step;
  for (std::size_t output = 0; output < step.results.size(); ++output) {
    std::vector<HostTensor> actual = step.results;
    const TensorType& type = actual[output].type;
    if (!info(type.dtype).is_float) continue;
    double number = element_as_double(type.dtype, actual[output].bytes.data(), 0) * 1.25 + 0.1;
    from_doubles(&number, type.dtype, actual[output].bytes.data(), 1);
    const StepComparison comparison = compare_step(step.graph, step.inputs, actual);
    CHECK_FALSE(comparison.differences[output].is_ok());
    CHECK(comparison.rounded_otherwise == 0);
  }
}

TEST_CASE("a square of a gradient may have twice the error of the gradient") {
  const Step step;
  std::size_t nu = 0;
  while (step.graph.outputs[nu].path != "opt_state/0/nu/Dense_0/kernel") ++nu;
  const auto accepts = [&](float share) {
    std::vector<HostTensor> actual = step.results;
    for (int i = 0; i < 16; ++i) actual[nu].data<float>()[i] *= 1 + share;
    return compare_step(step.graph, step.inputs, actual).differences[nu].is_ok();
  };
  CHECK(accepts(1.9e-5F));
  CHECK_FALSE(accepts(2.5e-5F));
}

TEST_CASE("numbers below the smallest normal one have an error of their spacing") {
  const TensorType type{DType::f16, {2}};
  const auto compared = [&](double found) {
    HostTensor expected = zeros(type), actual = zeros(type);
    const double numbers[2] = {0x1p-20, 0x1p-21};
    const double others[2] = {0x1p-20, found};
    from_doubles(numbers, type.dtype, expected.bytes.data(), 2);
    from_doubles(others, type.dtype, actual.bytes.data(), 2);
    return compare("x", actual, expected, comparison_tolerance(DType::f16),
                   least_magnitude(DType::f16));
  };
  CHECK(compared(0x1p-21 + 0x1p-23).is_ok());
  CHECK_FALSE(compared(0x1p-21 + 3 * 0x1p-24).is_ok());
}
