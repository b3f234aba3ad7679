// A batch in parts gives the gradients, the loss and the outputs of the whole batch.

#include <doctest/doctest.h>

#include "exec/cluster.h"
#include "exec/initial.h"
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
