// Conditions that decide while the program runs which block is run: on one device and on eight,
// forwards and backwards.

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "exec/cluster.h"
#include "exec/initial.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace cond_runs {
namespace {

const char* const whole = "mesh: {data: 1}\nrules: []\n";
const char* const split =
    "mesh: {data: 2, model: 4}\nrules: [[batch, data], [hidden, model], [embed, model]]\n";

/// Blocks of two depths; `layers` decides between them.
std::string model_of(const std::string& layers) {
  return "sizes: {batch: 8, embed: 16, hidden: 32}\n"
         "inputs: {x: [batch, embed], level: \"f32[]\"}\n"
         "blocks:\n"
         "  Deep: [dense: hidden, relu, dense: embed]\n"
         "  Flat: [dense: {features: embed, kernel: null}]\n"
         "  Either: [let: \"go = gt(reduce_sum(x), 0)\", cond: {of: x, when: go, then: Deep, else: "
         "Flat}]\n"
         "layers: [" +
         layers +
         "]\n"
         "train: {loss: mse, optimizer: {sgd: 0.1}, returns: [loss, grads]}\n";
}

struct Step {
  std::map<std::string, HostTensor> results;
  Bytes sent;
};

/// A train step from first values; parameters of one name and shape are alike in all models.
Step step_of(const std::string& model, const std::string& rules, float level) {
  const Planned planned = plan_texts(model, rules);
  Cluster cluster(planned.program, {});
  for (const StateLeaf& leaf : planned.model.state) {
    const std::string name = leaf.path.substr(leaf.path.find('/') + 1);
    const HostTensor start = leaf.role == Role::parameter
                                 ? initial_tensor(leaf.init, leaf.type, 1, name)
                                 : zeros(leaf.type);
    cluster.write_input(input_at(planned.program, leaf.path), start);
  }
  for (std::size_t i = 0; i < planned.program.inputs.size(); ++i) {
    const ProgramInput& input = planned.program.inputs[i];
    if (input.path == "x") cluster.write_input(i, example_input(input.global, 1, "x"));
    if (input.path != "level") continue;
    HostTensor number = zeros(input.global);
    number.data<float>()[0] = level;
    cluster.write_input(i, number);
  }
  cluster.run();
  Step step;
  for (std::size_t i = 0; i < planned.program.outputs.size(); ++i) {
    step.results.emplace(planned.program.outputs[i].path, cluster.read_output(i));
  }
  for (const AxisCounter& axis : cluster.counters().axes) step.sent = step.sent + axis.wire;
  return step;
}

double difference(const HostTensor& a, const HostTensor& b) {
  double most = 0;
  for (std::int64_t i = 0; i < element_count(a.type.shape); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(a.data<float>()[i] - b.data<float>()[i])));
  }
  return most;
}

bool is_zero(const HostTensor& tensor) { return difference(tensor, zeros(tensor.type)) == 0; }

}  // namespace

TEST_CASE("a cond gives the loss and gradients of the block it runs and none to the other") {
  const std::string cond =
      model_of("let: \"go = gt(level, 0)\", cond: {of: x, when: go, then: Deep, else: Flat}");
  for (const char* const rules : {whole, split}) {
    for (const float level : {1.0F, -1.0F}) {
      CAPTURE(rules);
      CAPTURE(level);
      const bool is_deep = level > 0;
      const Step taken = step_of(cond, rules, level);
      // The same layer alone has the same parameters, by name.
      const Step alone =
          step_of(model_of(is_deep ? "Deep: {of: x}" : "Flat: {of: x}"), whole, level);
      CHECK(difference(taken.results.at("loss"), alone.results.at("loss")) < 1e-6);
      std::size_t compared = 0, zeros_found = 0;
      for (const auto& [path, gradient] : taken.results) {
        if (path == "loss") continue;
        if (const auto same = alone.results.find(path); same != alone.results.end()) {
          CAPTURE(path);
          CHECK(difference(gradient, same->second) < 1e-6);
          ++compared;
        } else {
          CHECK(is_zero(gradient));
          ++zeros_found;
        }
      }
      CHECK(compared == (is_deep ? 4 : 2));
      CHECK(zeros_found == (is_deep ? 2 : 4));
    }
  }
}

TEST_CASE("a cond without an else leaves the value as it is") {
  const std::string model =
      model_of("let: \"go = gt(level, 0)\", cond: {of: x, when: go, then: Deep}");
  for (const char* const rules : {whole, split}) {
    CHECK(difference(step_of(model, rules, 1).results.at("loss"),
                     step_of(model_of("Deep: {of: x}"), whole, 1).results.at("loss")) < 1e-6);
    CHECK(
        difference(step_of(model, rules, -1).results.at("loss"),
                   step_of(model_of("param: {name: w, axes: [embed], init: ones}, let: y = x * 1"),
                           whole, 1)
                       .results.at("loss")) < 1e-6);
  }
}

TEST_CASE("collectives of a block that is left out are not sent") {
  const std::string model =
      model_of("let: \"go = gt(level, 0)\", cond: {of: x, when: go, then: Deep}");
  const Bytes with = step_of(model, split, 1).sent, without = step_of(model, split, -1).sent;
  CHECK(without < with);
}

TEST_CASE("a cond inside a loop decides anew in every round") {
  for (const std::string repeat :
       {"repeat: {of: x, block: Either, times: 3}",
        "repeat: {of: x, block: Either, times: 3, scan: true, axis: null}",
        "repeat: {of: x, block: Either, times: 3, remat: full}"}) {
    CAPTURE(repeat);
    const Step one = step_of(model_of(repeat), whole, 0),
               eight = step_of(model_of(repeat), split, 0);
    for (const auto& [path, result] : one.results) {
      CAPTURE(path);
      CHECK(difference(eight.results.at(path), result) < 1e-5);
    }
  }
}

}  // namespace cond_runs
