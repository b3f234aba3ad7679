// Gradients through complex numbers against central differences, in the convention that pairs a
// cotangent with a change by the real part of their product.

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "exec/element.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "model/graph_builder.h"
#include "model/model.h"
#include "property/op_cases.h"

using namespace shard;
using namespace shard::test;

namespace {

/// Outputs: the weighted sum of the op's first result, and its gradients.
class GradientGraph {
 public:
  explicit GradientGraph(const OpCase& test) : builder_(graph_) {
    graph_.name = "gradient";
    std::vector<ValueId> operands;
    for (const TensorType& type : test.operands) {
      operands.push_back(input(type));
      if (is_inexact(type.dtype)) moving.push_back(operands.size() - 1);
    }
    const ValueId result = builder_.emit_all(test.op, operands, test.attributes).front();
    ValueId product =
        builder_.emit(Op::multiply, {result, input(TensorType(builder_.type(result)))});
    if (info(builder_.type(product).dtype).is_complex) product = builder_.emit(Op::real, {product});
    std::vector<std::int64_t> all(static_cast<std::size_t>(builder_.type(product).rank()));
    std::iota(all.begin(), all.end(), 0);
    const ValueId loss = builder_.emit(Op::reduce_sum, {product}, Attributes{{"dims", all}});
    std::vector<ValueId> wrt;
    for (const std::size_t i : moving) wrt.push_back(operands[i]);
    output(loss);
    for (const ValueId gradient : differentiate(graph_, loss, wrt)) output(gradient);
    remove_dead_code(graph_);
    verify(graph_);
  }

  const Graph& graph() const { return graph_; }
  std::vector<std::size_t> moving;  ///< inputs with a gradient

 private:
  ValueId input(TensorType type) {
    const std::vector<std::string> labels(type.shape.size());
    const std::string path = "in" + std::to_string(graph_.inputs.size());
    const ValueId value = builder_.add_value(std::move(type), path, labels, {});
    graph_.inputs.push_back({value, path, Role::parameter, -1, {}});
    graph_.regions.front().parameters.push_back(value);
    return value;
  }

  void output(ValueId value) {
    graph_.outputs.push_back({value, "out", Role::output, -1, -1, std::nullopt});
    graph_.regions.front().results.push_back(value);
  }

  Graph graph_;
  GraphBuilder builder_;
};

std::vector<double> numbers_in(const HostTensor& tensor) {
  std::vector<double> numbers(number_count(tensor.type));
  to_doubles(tensor.type.dtype, tensor.bytes.data(), numbers.data(), numbers.size());
  return numbers;
}

/// The loss before it is rounded.
double loss_of(const Graph& graph, const std::vector<HostTensor>& inputs) {
  double loss = 0;
  watch_reference(graph, inputs,
                  [&](ValueId value, const auto&, const std::vector<double>& numbers) {
                    if (value == graph.outputs.front().value) loss = numbers.front();
                  });
  return loss;
}

/// By how much the loss changes with one number of an input.
double slope(const Graph& graph, std::vector<HostTensor> inputs, std::size_t input,
             std::size_t place) {
  constexpr double step = 0x1p-7;  // added to numbers of about 1 without rounding
  std::vector<double> numbers = numbers_in(inputs[input]);
  const double at = static_cast<float>(numbers[place]);
  double losses[2];
  for (const int side : {0, 1}) {
    numbers[place] = at + (side == 0 ? -step : step);
    from_doubles(numbers.data(), inputs[input].type.dtype, inputs[input].bytes.data(),
                 numbers.size());
    losses[side] = loss_of(graph, inputs);
  }
  return (losses[1] - losses[0]) / (2 * step);
}

bool touches_complex(const OpCase& test) {
  return test.op == Op::make_complex || test.op == Op::fft ||
         std::any_of(test.operands.begin(), test.operands.end(),
                     [](const TensorType& type) { return info(type.dtype).is_complex; });
}

}  // namespace

TEST_CASE("gradients through complex numbers agree with central differences") {
  std::set<Op> seen;
  for (const OpCase& test : op_cases()) {
    if (!touches_complex(test) || test.op == Op::eq || test.op == Op::reduce_prod) continue;
    seen.insert(test.op);
    CAPTURE(def(test.op).name);
    CAPTURE(to_string(test.attributes));
    const GradientGraph made(test);
    std::vector<HostTensor> inputs;
    for (const GraphInput& input : made.graph().inputs) {
      inputs.push_back(
          drawn_values(made.graph().value(input.value).type, test.index_limit, inputs.size() + 1));
    }
    const std::vector<HostTensor> outputs = run_reference(made.graph(), inputs);
    for (std::size_t k = 0; k < made.moving.size(); ++k) {
      const std::size_t input = made.moving[k];
      const std::vector<double> gradient = numbers_in(outputs[1 + k]);
      const std::size_t parts = number_count(inputs[input].type.dtype, 1);
      // A change of the imaginary part turns the cotangent's by i.
      for (std::size_t place = 0; place < gradient.size(); place += gradient.size() / 4 + 1) {
        const bool is_imaginary = parts == 2 && place % 2 == 1;
        const double expected = slope(made.graph(), inputs, input, place);
        CHECK(std::fabs((is_imaginary ? -1 : 1) * gradient[place] - expected) <
              5e-3 * std::max(1.0, std::fabs(expected)));
      }
    }
  }
  CHECK(seen.size() > 20);
}
