#include "exec/compare_step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "base/dtype.h"
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

bool is_made_by_update(const Graph& graph, ValueId value) {
  const NodeId producer = graph.value(value).producer;
  return producer != NodeId::none && graph.node(producer).phase == Phase::update;
}

/// The update of a step as a function of its own.
struct UpdateAlone {
  Graph graph;
  std::vector<ValueId> read;         ///< made before it: inputs behind those of the step
  std::vector<std::size_t> outputs;  ///< those of the step that it makes
};

/// What the nodes read that was computed before them, each once.
std::vector<ValueId> read_by(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<ValueId> read;
  std::set<ValueId> known;
  for (const NodeId id : nodes) {
    for (const ValueId operand : graph.node(id).operands) {
      const bool is_given = graph.value(operand).producer == NodeId::none;
      if (is_given || is_made_by_update(graph, operand) || !known.insert(operand).second) continue;
      read.push_back(operand);
    }
  }
  return read;
}

UpdateAlone update_alone(const Graph& graph) {
  UpdateAlone alone{graph, {}, {}};
  Region& body = alone.graph.regions.front();
  std::erase_if(body.nodes, [&](NodeId id) { return graph.node(id).phase != Phase::update; });
  alone.read = read_by(graph, body.nodes);
  for (const ValueId value : alone.read) {
    GraphInput input;
    input.value = value;
    alone.graph.inputs.push_back(input);
    body.parameters.push_back(value);
    alone.graph.values[index_of(value)].producer = NodeId::none;
  }
  alone.graph.outputs.clear();
  body.results.clear();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_made_by_update(graph, graph.outputs[i].value)) continue;
    alone.outputs.push_back(i);
    alone.graph.outputs.push_back(graph.outputs[i]);
    body.results.push_back(graph.outputs[i].value);
  }
  return alone;
}

/// The graph with these values as further outputs.
Graph with_outputs(Graph graph, const std::vector<ValueId>& values) {
  for (const ValueId value : values) {
    GraphOutput output;
    output.value = value;
    output.path = "operand";
    graph.outputs.push_back(output);
    graph.regions.front().results.push_back(value);
  }
  return graph;
}

/// Gradients and what else is computed of numbers; not constants, which have no error.
bool has_error(const Graph& graph, ValueId value) {
  const Node& producer = graph.node(graph.value(value).producer);
  return info(graph.value(value).type.dtype).is_float && !producer.operands.empty();
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

/// By output of the step: what the update makes of the values that it reads, moved by their errors
/// either way. `inputs` are those of the step, `read` the exact values.
std::vector<Range> ranges_of(const Graph& graph, const UpdateAlone& update,
                             std::vector<HostTensor> inputs, const std::vector<HostTensor>& read) {
  std::vector<Range> ranges(graph.outputs.size());
  if (update.outputs.empty()) return ranges;
  const std::vector<double> tolerances = tolerances_of(graph);
  const std::size_t given = inputs.size();
  inputs.insert(inputs.end(), read.begin(), read.end());
  for (const double way : {-1.0, 1.0}) {
    for (std::size_t i = 0; i < read.size(); ++i) {
      const ValueId value = update.read[i];
      if (!has_error(graph, value)) continue;
      const double error = tolerances[index_of(value)] * largest_magnitude(doubles_of(read[i]));
      inputs[given + i] = moved(read[i], way * error);
    }
    const std::vector<HostTensor> results = run_reference(update.graph, inputs);
    for (std::size_t i = 0; i < results.size(); ++i) widen(ranges[update.outputs[i]], results[i]);
  }
  return ranges;
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
  const UpdateAlone update = update_alone(graph);
  std::vector<HostTensor> expected = run_reference(with_outputs(graph, update.read), inputs);
  const auto own = expected.begin() + static_cast<std::ptrdiff_t>(graph.outputs.size());
  const std::vector<HostTensor> read(std::make_move_iterator(own),
                                     std::make_move_iterator(expected.end()));
  std::vector<Range> ranges = ranges_of(graph, update, inputs, read);
  const std::vector<double> tolerances = tolerances_of(graph);
  StepComparison comparison;
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    comparison.differences.push_back(compare_in(
        graph.outputs[output].path, actual[output], expected[output], std::move(ranges[output]),
        tolerances[index_of(graph.outputs[output].value)], comparison.undetermined));
  }
  return comparison;
}

}  // namespace shard
