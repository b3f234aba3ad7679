// Sharded equals whole, planned equals measured: random models executed on their devices and
// compared with the unsharded reference; bytes and peaks counted by the executor compared with the
// plan.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "exec/initial.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "property/planned_equals_counted.h"
#include "property/random_model.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

/// SHARD_PLAN_CASES and SHARD_PLAN_FIRST_SEED make a long run of it.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<HostTensor> start_values(const Model& model, const Graph& graph, std::uint64_t seed) {
  std::vector<HostTensor> values;
  for (const GraphInput& input : graph.inputs) {
    const TensorType& type = graph.value(input.value).type;
    values.push_back(
        input.state_leaf < 0
            ? example_input(type, seed, input.path)
            : initial_tensor(model.state[static_cast<std::size_t>(input.state_leaf)].init, type, 1,
                             input.path));
  }
  return values;
}

double sum_of_magnitudes(const HostTensor& tensor) {
  double sum = 0;
  for (std::int64_t i = 0; i < element_count(tensor.type.shape); ++i) {
    sum += std::abs(double{tensor.data<float>()[i]});
  }
  return sum;
}

/// How much larger the terms of the loss are than the loss: what cancels there is lost to rounding.
double cancellation_of_loss(const Model& model, const std::vector<HostTensor>& start) {
  std::vector<HostTensor> inputs;
  for (const GraphInput& input : model.apply.inputs) {
    const auto& step_inputs = model.train_step->inputs;
    const auto at = std::find_if(step_inputs.begin(), step_inputs.end(),
                                 [&](const GraphInput& one) { return one.path == input.path; });
    REQUIRE(at != step_inputs.end());
    inputs.push_back(start[static_cast<std::size_t>(at - step_inputs.begin())]);
  }
  const HostTensor y = run_reference(model.apply, inputs).front();
  double sum = 0;
  for (std::int64_t i = 0; i < element_count(y.type.shape); ++i) sum += double{y.data<float>()[i]};
  return sum_of_magnitudes(y) / std::max(std::abs(sum), 1e-30);
}

/// Parameters after an adam step may differ by the sign of a vanishing gradient, i.e. two learning
/// rates; everything else is sums of at most a few hundred f32 products.
double tolerance_for(const Graph& graph, const GraphOutput& output, const HostTensor& expected,
                     double cancellation) {
  if (output.role == Role::loss) return 1e-5 * cancellation;
  const bool is_adam = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                   [](const Node& node) { return node.op == Op::adam_update; });
  if (!is_adam || output.role != Role::parameter) return 2e-5;
  double largest = 1e-30;
  for (std::int64_t i = 0; i < element_count(expected.type.shape); ++i) {
    largest = std::max(largest, std::abs(double{expected.data<float>()[i]}));
  }
  return std::max(2e-5, 2.1e-3 / largest);
}

/// Outputs that differ from the reference, one line each.
std::vector<std::string> differing_outputs(const Graph& graph, const Cluster& cluster,
                                           const std::vector<HostTensor>& expected,
                                           double cancellation) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphOutput& output = graph.outputs[i];
    const Difference difference = compare(output.path, cluster.read_output(i), expected[i],
                                          tolerance_for(graph, output, expected[i], cancellation));
    if (difference.is_ok()) continue;
    lines.push_back(output.path + " differs by " + std::to_string(difference.largest) + " at " +
                    std::to_string(difference.index) + " (tolerance " +
                    std::to_string(difference.tolerance) + ")");
  }
  return lines;
}

/// Runs the program from the values of `value_seed` with one and with three workers. Bytes and
/// peaks must be the plan's and both answers the same; returns the outputs that differ from the
/// reference.
std::vector<std::string> run_from(const Planned& planned, std::uint64_t value_seed) {
  const Graph& graph = planned.sharded.given();
  const std::vector<HostTensor> start = start_values(planned.model, graph, value_seed);
  const std::vector<HostTensor> expected = run_reference(graph, start);
  const double cancellation =
      graph.name == "train_step" ? cancellation_of_loss(planned.model, start) : 1;
  std::vector<std::string> differing;
  std::vector<std::vector<HostTensor>> answers;
  for (const int workers : {1, 3}) {
    Cluster cluster(planned.program, {workers});
    for (std::size_t i = 0; i < start.size(); ++i) cluster.write_input(i, start[i]);
    cluster.run();
    CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
    differing = differing_outputs(graph, cluster, expected, cancellation);
    answers.emplace_back();
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
      answers.back().push_back(cluster.read_output(i));
  }
  CHECK_MESSAGE(answers[0] == answers[1], "one and three workers give different bytes");
  return differing;
}

void run_case(const Planned& planned) {
  CHECK_NOTHROW(verify(planned.program));
  CHECK(to_string(read_program("program", to_string(planned.program))) ==
        to_string(planned.program));
  // Rounding can put an element on the other side of relu's kink, whose gradient then differs. That
  // does not happen again from other values; a wrong program does.
  if (run_from(planned, 1).empty()) return;
  for (const std::uint64_t value_seed : {2, 3}) {
    const std::vector<std::string> differing = run_from(planned, value_seed);
    if (differing.empty()) return;
    if (value_seed == 3) {
      for (const std::string& line : differing) FAIL_CHECK(line);
    }
  }
}

/// Runs `cases` of them from both functions; prints how many there were.
void run_cases(const std::string& kind, RandomCase (*make)(std::uint64_t), std::uint64_t usual) {
  const std::uint64_t first = number_from("SHARD_PLAN_FIRST_SEED", 1);
  const std::uint64_t cases = number_from("SHARD_PLAN_CASES", usual);
  int refused = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomCase one = make(seed);
    CAPTURE(seed);
    CAPTURE(one.model);
    CAPTURE(one.rules);
    try {
      for (const bool train : {true, false}) run_case(plan_texts(one.model, one.rules, train));
    } catch (const Error& error) {
      // A random rule list may name one mesh axis twice in one spec; nothing else may be refused.
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        CHECK_MESSAGE(diagnostic.id == "duplicate-mesh-axis", to_string(diagnostic));
      }
      ++refused;
    }
  }
  std::cout << kind << ": " << cases << " cases from seed " << first << ", " << refused
            << " refused\n";
  CHECK(refused * 4 < static_cast<int>(cases) + 4);
}

}  // namespace

TEST_CASE("random models sharded equal themselves whole and plans equal runs") {
  run_cases("random models", random_case, 60);
}

TEST_CASE("random models on padded arrays equal themselves without padding") {
  run_cases("padded models", padded_case, 40);
}
