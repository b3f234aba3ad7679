#include "exec/compare_step.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "exec/element.h"
#include "exec/reference.h"
#include "exec/tolerances.h"

namespace shard {
namespace {

/// A range this many tolerances wide, either way, is no longer the same uncertainty passed on (the
/// square of a gradient has twice its relative error): the update has enlarged it.
constexpr double enlarged = 4;

/// What an output may be, per element; empty vectors: nothing but the expected value.
struct Range {
  std::vector<double> least;
  std::vector<double> most;
};

std::vector<double> doubles_of(const HostTensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(element_count(tensor.type.shape)));
  to_doubles(tensor.type.dtype, tensor.bytes.data(), numbers.data(), numbers.size());
  return numbers;
}

/// Nodes of the function that update a parameter of the state.
std::vector<NodeId> update_nodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (const GraphOutput& output : graph.outputs) {
    const NodeId producer = graph.value(output.value).producer;
    if (output.role != Role::parameter || producer == NodeId::none) continue;
    if (graph.node(producer).phase == Phase::update) nodes.push_back(producer);
  }
  return nodes;
}

/// The graph with every operand of the update nodes as a further output; `output_of` says which.
Graph with_operands(Graph graph, const std::vector<NodeId>& updates,
                    std::map<ValueId, std::size_t>& output_of) {
  for (const NodeId id : updates) {
    for (const ValueId operand : graph.node(id).operands) {
      if (!output_of.try_emplace(operand, graph.outputs.size()).second) continue;
      GraphOutput output;
      output.value = operand;
      output.path = "operand";
      graph.outputs.push_back(output);
      graph.regions.front().results.push_back(operand);
    }
  }
  return graph;
}

/// A graph of the update alone, its operands as inputs.
Graph update_alone(const Graph& graph, const Node& update) {
  Graph alone;
  alone.name = "update";
  alone.regions.emplace_back();
  Node node = update;
  node.operands.clear();
  node.results.clear();
  const auto add_value = [&](ValueId of, NodeId producer) {
    alone.values.push_back({graph.value(of).type, "", {}, producer, {}});
    return id_at<ValueId>(alone.values.size() - 1);
  };
  for (const ValueId operand : update.operands) {
    const ValueId value = add_value(operand, NodeId::none);
    node.operands.push_back(value);
    alone.regions.front().parameters.push_back(value);
    GraphInput input;
    input.value = value;
    alone.inputs.push_back(input);
  }
  for (const ValueId result : update.results) {
    const ValueId value = add_value(result, id_at<NodeId>(0));
    node.results.push_back(value);
    alone.regions.front().results.push_back(value);
    GraphOutput output;
    output.value = value;
    alone.outputs.push_back(output);
  }
  alone.regions.front().nodes.push_back(id_at<NodeId>(0));
  alone.nodes.push_back(std::move(node));
  return alone;
}

/// The operand that is no state: of the parameter's type and computed.
std::size_t gradient_operand(const Graph& graph, const Node& update) {
  const TensorType& type = graph.value(update.results.front()).type;
  for (std::size_t i = 0; i < update.operands.size(); ++i) {
    const GraphValue& operand = graph.value(update.operands[i]);
    if (operand.type.shape == type.shape && operand.producer != NodeId::none) return i;
  }
  SHARD_CHECK(false, "an update has a gradient among its operands");
}

/// An exact 0 comes from a dead unit and has no rounding error: it stays.
HostTensor moved(const HostTensor& gradient, double by) {
  std::vector<double> numbers = doubles_of(gradient);
  for (double& number : numbers) number += number == 0 ? 0 : by;
  HostTensor result = gradient;
  from_doubles(numbers.data(), gradient.type.dtype, result.bytes.data(), numbers.size());
  return result;
}

double largest_magnitude(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) {
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
  }
  return largest;
}

void widen(Range& range, const HostTensor& by) {
  const std::vector<double> numbers = doubles_of(by);
  if (range.least.empty()) range.least = range.most = numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    range.least[i] = std::min(range.least[i], numbers[i]);
    range.most[i] = std::max(range.most[i], numbers[i]);
  }
}

/// The ranges of an update's results by the graph's outputs.
void add_ranges(const Graph& graph, const Node& update, std::vector<HostTensor> operands,
                const std::vector<double>& tolerances, std::vector<Range>& ranges) {
  const Graph alone = update_alone(graph, update);
  const std::size_t gradient = gradient_operand(graph, update);
  const HostTensor exact = operands[gradient];
  const double error =
      tolerances[index_of(update.operands[gradient])] * largest_magnitude(doubles_of(exact));
  for (const double by : {-error, error}) {
    operands[gradient] = moved(exact, by);
    const std::vector<HostTensor> results = run_reference(alone, operands);
    for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
      const auto place =
          std::find(update.results.begin(), update.results.end(), graph.outputs[output].value);
      if (place == update.results.end()) continue;
      widen(ranges[output], results[static_cast<std::size_t>(place - update.results.begin())]);
    }
  }
}

/// Distance from the expected value, or from its range where the update enlarges the gradient's
/// error.
Difference compare_in(const std::string& name, const HostTensor& actual, const HostTensor& expected,
                      Range range, double tolerance, std::int64_t& undetermined) {
  if (range.least.empty()) return compare(name, actual, expected, tolerance);
  widen(range, expected);
  const std::vector<double> wanted = doubles_of(expected);
  const double allowed = tolerance * largest_magnitude(wanted);
  std::vector<double> nearest = doubles_of(actual);
  HostTensor settled = actual;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_determined = range.most[i] - range.least[i] <= 2 * enlarged * allowed;
    if (is_determined || !std::isfinite(nearest[i])) continue;
    if (std::fabs(nearest[i] - wanted[i]) > allowed) ++undetermined;
    // What is inside its range is as good as the expected value.
    nearest[i] = wanted[i] + (nearest[i] - std::clamp(nearest[i], range.least[i], range.most[i]));
  }
  from_doubles(nearest.data(), settled.type.dtype, settled.bytes.data(), nearest.size());
  return compare(name, settled, expected, tolerance);
}

}  // namespace

StepComparison compare_step(const Graph& graph, const std::vector<HostTensor>& inputs,
                            const std::vector<HostTensor>& actual) {
  const std::vector<NodeId> updates = update_nodes(graph);
  std::map<ValueId, std::size_t> output_of;
  const std::vector<HostTensor> expected =
      run_reference(with_operands(graph, updates, output_of), inputs);
  const std::vector<double> tolerances = tolerances_of(graph);
  std::vector<Range> ranges(graph.outputs.size());
  for (const NodeId id : updates) {
    std::vector<HostTensor> operands;
    for (const ValueId operand : graph.node(id).operands) {
      operands.push_back(expected[output_of.at(operand)]);
    }
    add_ranges(graph, graph.node(id), std::move(operands), tolerances, ranges);
  }
  StepComparison comparison;
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    comparison.differences.push_back(compare_in(
        graph.outputs[output].path, actual[output], expected[output], std::move(ranges[output]),
        tolerances[index_of(graph.outputs[output].value)], comparison.undetermined));
  }
  return comparison;
}

}  // namespace shard
