// A batch in parts gives the gradients, the loss and the outputs of the whole batch.

#include <doctest/doctest.h>

#include "exec/cluster.h"
#include "exec/initial.h"
#include "planned_equals_counted.h"
#include "score.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

std::string perceptron(const std::string& loss, int parts) {
  return "sizes: {batch: 16, embed: 6, hidden: 8}\n"
         "inputs: {x: \"f32[batch, embed]\"}\n"
         "layers: [dense: hidden, tanh, constrain: [batch, hidden], dense: embed]\n"
         "outputs: {y: \"f32[batch, embed]\"}\n"
         "train: {loss: " +
         loss +
         ", optimizer: {adam: 1e-2}, returns: [state, loss, grads, outputs], microbatches: " +
         std::to_string(parts) + "}\n";
}

/// Every output of a step by path.
std::map<std::string, HostTensor> step_of(const std::string& model, const std::string& rules) {
  const Planned planned = plan_texts(model, rules);
  Cluster cluster(planned.program, {});
  for (const ProgramInput& input : planned.program.inputs) {
    cluster.write_input(input_at(planned.program, input.path),
                        input.role == Role::input || input.role == Role::parameter
                            ? initial_tensor({"normal", 0.5}, input.global, 7, input.path)
                            : zeros(input.global));
  }
  cluster.run();
  std::map<std::string, HostTensor> results;
  for (std::size_t i = 0; i < planned.program.outputs.size(); ++i) {
    results[planned.program.outputs[i].path] = cluster.read_output(i);
  }
  return results;
}

}  // namespace

TEST_CASE("microbatches change no number of a step beyond rounding") {
  const char* const meshes[] = {"mesh: {data: 1}\nrules: []\n",
                                "mesh: {data: 2, tensor: 2}\n"
                                "rules: [[batch, data], [hidden, tensor]]\n"};
  for (const char* rules : meshes) {
    for (const char* loss : {"mse", "mean", "sum"}) {
      CAPTURE(rules);
      CAPTURE(loss);
      const auto whole = step_of(perceptron(loss, 1), rules);
      for (const int parts : {2, 8}) {
        CAPTURE(parts);
        const auto found = step_of(perceptron(loss, parts), rules);
        REQUIRE(found.size() == whole.size());
        for (const auto& [path, tensor] : whole) {
          CAPTURE(path);
          CHECK(relative_difference(found.at(path), tensor) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("gradients that microbatches add up are reduced once behind the loop") {
  const std::string rules = "mesh: {data: 4}\nrules: [[batch, data]]\n";
  const Planned planned = plan_texts(perceptron("mse", 4), rules);
  for (std::size_t body = 1; body < planned.program.bodies.size(); ++body) {
    for (const Instruction& instruction : planned.program.bodies[body].instructions)
      CHECK_FALSE(instruction.collective.has_value());
  }
  // Two kernels of 6 x 8, their biases and the loss, each sent 2 * 3 / 4 times.
  CHECK(wire_of(planned.program) == Bytes((2 * 48 + 8 + 6 + 1) * 4 * 3 / 2));
  CHECK(wire_of(partition(planned.sharded, PartitionMode::compatible)) ==
        4 * wire_of(planned.program));
  Cluster cluster(planned.program, {});
  for (const ProgramInput& input : planned.program.inputs)
    cluster.write_input(input_at(planned.program, input.path), zeros(input.global));
  cluster.run();
  CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
}

TEST_CASE("gradients that are added up are those of the whole batch on every mesh") {
  const char* const meshes[] = {
      "mesh: {data: 4}\nrules: [[batch, data]]\n",
      "mesh: {data: 2, fsdp: 2}\nrules: [[batch, [data, fsdp]]]\n"
      "rules_for: {params: [[hidden, fsdp]], optimizer: [[hidden, fsdp]]}\n"};
  for (const char* rules : meshes) {
    CAPTURE(rules);
    const auto whole = step_of(perceptron("mean", 1), rules);
    const auto found = step_of(perceptron("mean", 4), rules);
    REQUIRE(found.size() == whole.size());
    for (const auto& [path, tensor] : whole) {
      CAPTURE(path);
      CHECK(relative_difference(found.at(path), tensor) < 1e-5);
    }
  }
}
