#include "exec/compare_step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
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
  std::vector<double> numbers(number_count(tensor.type));
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
  /// The graph's inputs: their places among the step's inputs and, behind those, `read`.
  std::vector<std::size_t> taken;
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
  UpdateAlone alone{graph, {}, {}, {}};
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
  alone.taken.resize(alone.graph.inputs.size());
  std::iota(alone.taken.begin(), alone.taken.end(), std::size_t{0});
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
  return is_inexact(graph.value(value).type.dtype) && !producer.operands.empty();
}

/// A gradient within `error` of an exact one.
using GradientMove = std::function<double(double exact, double error)>;

std::vector<GradientMove> moves_to_ends() {
  return {[](double exact, double error) { return exact - error; },
          [](double exact, double error) { return exact + error; }};
}

/// All over the range, closely about 0: what an update makes of a gradient hangs on its size.
std::vector<GradientMove> moves_all_over() {
  constexpr int octaves = 12, per_octave = 8;
  std::vector<GradientMove> moves = moves_to_ends();
  for (int step = 0; step <= octaves * per_octave; ++step) {
    for (const double sign : {-1.0, 1.0}) {
      const double share = sign * std::exp2(-static_cast<double>(step) / per_octave);
      moves.emplace_back([share](double exact, double error) {
        return std::clamp(share * error, exact - error, exact + error);
      });
    }
  }
  return moves;
}

/// An exact 0 comes from a dead unit and has no rounding error, unless `nudged` is none there.
HostTensor moved(const HostTensor& gradient, const HostTensor* nudged, const GradientMove& move,
                 double error) {
  std::vector<double> numbers = doubles_of(gradient);
  const std::vector<double> others = nudged == nullptr ? numbers : doubles_of(*nudged);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0 || others[i] != 0) numbers[i] = move(numbers[i], error);
  }
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

/// What the update reads: the exact values, and those that slightly different inputs give, where
/// that is asked.
struct ReadValues {
  std::vector<HostTensor> exact;
  std::vector<HostTensor> nudged;
};

/// By output of the step: what the update makes of the values that it reads, moved within their
/// errors. `inputs` are those of the step.
std::vector<Range> ranges_of(const Graph& graph, const UpdateAlone& update,
                             const std::vector<HostTensor>& given, const ReadValues& values,
                             const std::vector<GradientMove>& moves) {
  std::vector<Range> ranges(graph.outputs.size());
  if (update.outputs.empty()) return ranges;
  const std::vector<Tolerance> tolerances = tolerances_of(graph);
  std::vector<HostTensor> inputs;
  std::vector<double> errors;
  for (const std::size_t place : update.taken) {
    const bool is_read = place >= given.size();
    inputs.push_back(is_read ? values.exact[place - given.size()] : given[place]);
    const ValueId value = is_read ? update.read[place - given.size()] : ValueId::none;
    const bool is_moved = is_read && has_error(graph, value);
    errors.push_back(
        is_moved ? tolerances[index_of(value)].allowed(largest_magnitude(doubles_of(inputs.back())))
                 : 0);
  }
  for (const GradientMove& move : moves) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (errors[i] == 0) continue;
      const std::size_t read = update.taken[i] - given.size();
      const HostTensor* const nudged = values.nudged.empty() ? nullptr : &values.nudged[read];
      inputs[i] = moved(values.exact[read], nudged, move, errors[i]);
    }
    const std::vector<HostTensor> results = run_reference(update.graph, inputs);
    for (std::size_t i = 0; i < results.size(); ++i) widen(ranges[update.outputs[i]], results[i]);
  }
  return ranges;
}

/// Whether any value has fewer bits than float32.
bool has_storage_formats(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const GraphValue& value) { return least_magnitude(value.type.dtype) > 0; });
}

/// By output of the step: what runs give that round values of 16 bits up or down by chance.
std::vector<Range> ranges_of_rounding(const Graph& graph, const std::vector<HostTensor>& inputs) {
  constexpr int runs = 8;
  constexpr std::uint64_t seed = 1;
  std::mt19937_64 random(seed);
  std::vector<Range> ranges(graph.outputs.size());
  for (int run = 0; run < runs; ++run) {
    const std::vector<HostTensor> results = run_reference_rounded_anyhow(graph, inputs, random);
    for (std::size_t i = 0; i < results.size(); ++i) widen(ranges[i], results[i]);
  }
  return ranges;
}

/// How an element lies to what it may be.
struct Placed {
  double outside;      ///< how far beyond its range, signed
  bool is_near;        ///< within the tolerance of the expected value
  bool is_determined;  ///< its range is about as wide as the tolerance
};

/// Brings the finite elements that `settles` as near to the expected value as they are to the
/// range: what is inside its range is as good as the expected value.
HostTensor settled_in(const HostTensor& actual, const HostTensor& expected, Range range,
                      const Tolerance& tolerance, const std::function<bool(Placed)>& settles) {
  if (range.least.empty()) return actual;
  widen(range, expected);
  const std::vector<double> wanted = doubles_of(expected);
  const double allowed = tolerance.allowed(largest_magnitude(wanted));
  std::vector<double> found = doubles_of(actual);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!std::isfinite(found[i])) continue;
    const double outside = found[i] - std::clamp(found[i], range.least[i], range.most[i]);
    const bool is_near = std::fabs(found[i] - wanted[i]) <= allowed;
    const bool is_determined = range.most[i] - range.least[i] <= 2 * enlarged * allowed;
    if (settles({outside, is_near, is_determined})) found[i] = wanted[i] + outside;
  }
  HostTensor settled = actual;
  from_doubles(found.data(), settled.type.dtype, settled.bytes.data(), found.size());
  return settled;
}

/// The update as far as it makes `outputs` of the step, with what that takes.
UpdateAlone restricted_to(const UpdateAlone& update, const std::set<std::size_t>& outputs) {
  UpdateAlone some = update;
  Region& body = some.graph.regions.front();
  some.outputs.clear();
  some.graph.outputs.clear();
  body.results.clear();
  std::set<ValueId> needed;
  for (std::size_t i = 0; i < update.outputs.size(); ++i) {
    if (!outputs.contains(update.outputs[i])) continue;
    const GraphOutput& output = update.graph.outputs[i];
    some.outputs.push_back(update.outputs[i]);
    some.graph.outputs.push_back(output);
    body.results.push_back(output.value);
    needed.insert(output.value);
  }
  std::vector<NodeId> kept;
  for (std::size_t i = body.nodes.size(); i-- > 0;) {
    const Node& node = some.graph.node(body.nodes[i]);
    if (std::none_of(node.results.begin(), node.results.end(),
                     [&](ValueId result) { return needed.contains(result); })) {
      continue;
    }
    needed.insert(node.operands.begin(), node.operands.end());
    kept.push_back(body.nodes[i]);
  }
  body.nodes.assign(kept.rbegin(), kept.rend());
  some.taken.clear();
  some.graph.inputs.clear();
  body.parameters.clear();
  for (std::size_t i = 0; i < update.taken.size(); ++i) {
    const GraphInput& input = update.graph.inputs[i];
    if (!needed.contains(input.value)) continue;
    some.taken.push_back(update.taken[i]);
    some.graph.inputs.push_back(input);
    body.parameters.push_back(input.value);
  }
  return some;
}

/// Inputs that differ by their tolerance, one way or the other.
std::vector<HostTensor> nudged_inputs(std::vector<HostTensor> inputs) {
  std::uint64_t state = 1;
  for (HostTensor& input : inputs) {
    if (!is_inexact(input.type.dtype)) continue;
    std::vector<double> numbers = doubles_of(input);
    for (double& number : numbers) {
      state = state * 6364136223846793005U + 1442695040888963407U;  // any mixture of signs will do
      const double sign = (state >> 63) != 0 ? 1 : -1;
      number *= 1 + sign * comparison_tolerance(input.type.dtype);
    }
    from_doubles(numbers.data(), input.type.dtype, input.bytes.data(), numbers.size());
  }
  return inputs;
}

/// One step's results and what they should be.
class ComparedStep {
 public:
  ComparedStep(const Graph& graph, const std::vector<HostTensor>& inputs,
               const std::vector<HostTensor>& actual)
      : graph_(graph),
        inputs_(inputs),
        actual_(actual),
        tolerances_(tolerances_of(graph)),
        update_(update_alone(graph)),
        expected_(run_reference(with_outputs(graph, update_.read), inputs)) {
    values_.exact = read_values(expected_);
  }

  StepComparison compared() {
    ranges_ = ranges_of(graph_, update_, inputs_, values_, moves_to_ends());
    StepComparison comparison = compared_in_ranges();
    comparison = explained(std::move(comparison));
    if (!has_storage_formats(graph_) || unexplained(comparison, all_outputs()).empty())
      return comparison;
    rounding_ = ranges_of_rounding(graph_, inputs_);
    const StepComparison by_rounding = compared_in_ranges();
    return unexplained(by_rounding, all_outputs()).empty() ? by_rounding : comparison;
  }

 private:
  /// Takes what the update reads from behind the step's own results.
  std::vector<HostTensor> read_values(std::vector<HostTensor>& all) const {
    const auto own = all.begin() + static_cast<std::ptrdiff_t>(graph_.outputs.size());
    return {std::make_move_iterator(own), std::make_move_iterator(all.end())};
  }

  std::vector<std::size_t> all_outputs() const {
    std::vector<std::size_t> all(graph_.outputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  static std::set<std::size_t> unexplained(const StepComparison& comparison,
                                           const std::vector<std::size_t>& outputs) {
    std::set<std::size_t> some;
    for (const std::size_t output : outputs) {
      const Difference& one = comparison.differences[output];
      if (!one.is_ok() && !one.has_non_finite) some.insert(output);
    }
    return some;
  }

  /// The same after a closer look at what is unexplained, which takes a hundred updates: at the
  /// worst first, for while that stays so the others make no difference. But for 16 bits, where
  /// rounding may explain it.
  StepComparison explained(StepComparison comparison) {
    const auto is_lost = [](const Difference& one) { return one.has_non_finite; };
    std::set<std::size_t> left = unexplained(comparison, update_.outputs);
    const bool may_be_first = !has_storage_formats(graph_);
    if (left.empty() || (may_be_first && std::any_of(comparison.differences.begin(),
                                                     comparison.differences.end(), is_lost)))
      return comparison;
    if (may_be_first) {
      const auto beyond = [&](std::size_t output) {
        const Difference& one = comparison.differences[output];
        return one.largest / one.tolerance;
      };
      const std::size_t worst =
          *std::max_element(left.begin(), left.end(),
                            [&](std::size_t a, std::size_t b) { return beyond(a) < beyond(b); });
      look_all_over({worst});
      comparison = compared_in_ranges();
      left = unexplained(comparison, update_.outputs);
      if (left.empty() || left.contains(worst)) return comparison;
    }
    look_all_over(left);
    return compared_in_ranges();
  }

  /// For these outputs of the update, gradients all over their ranges.
  void look_all_over(const std::set<std::size_t>& outputs) {
    if (values_.nudged.empty()) {
      std::vector<HostTensor> nudged =
          run_reference(with_outputs(graph_, update_.read), nudged_inputs(inputs_));
      values_.nudged = read_values(nudged);
    }
    const std::vector<Range> wider =
        ranges_of(graph_, restricted_to(update_, outputs), inputs_, values_, moves_all_over());
    for (const std::size_t output : outputs) ranges_[output] = wider[output];
  }

  StepComparison compared_in_ranges() const {
    StepComparison comparison;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const GraphOutput& output = graph_.outputs[i];
      const Tolerance& tolerance = tolerances_[index_of(output.value)];
      // Where the update enlarges the gradient's error, or explains a difference whole.
      HostTensor settled = settled_in(
          actual_[i], expected_[i], ranges_[i], tolerance, [&comparison](const Placed& element) {
            if (!element.is_determined && !element.is_near) ++comparison.undetermined;
            return !element.is_determined || (!element.is_near && element.outside == 0);
          });
      if (!rounding_.empty()) {
        settled = settled_in(settled, expected_[i], rounding_[i], tolerance,
                             [&comparison](const Placed& element) {
                               if (!element.is_near) ++comparison.rounded_otherwise;
                               return !element.is_near;
                             });
      }
      comparison.differences.push_back(
          compare(output.path, settled, expected_[i], tolerance.relative, tolerance.least));
    }
    return comparison;
  }

  const Graph& graph_;
  const std::vector<HostTensor>& inputs_;
  const std::vector<HostTensor>& actual_;
  std::vector<Tolerance> tolerances_;
  UpdateAlone update_;
  std::vector<HostTensor> expected_;
  ReadValues values_;
  std::vector<Range> ranges_;    ///< by output: of what the update makes of its gradients
  std::vector<Range> rounding_;  ///< by output, where it is looked at
};

}  // namespace

StepComparison compare_step(const Graph& graph, const std::vector<HostTensor>& inputs,
                            const std::vector<HostTensor>& actual) {
  return ComparedStep(graph, inputs, actual).compared();
}

}  // namespace shard
