// Training of complex parameters against JAX and optax (recorded by oracle/complex_gradients.py):
// losses and gradients of small programs, parameters after two steps of every optimizer.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "exec/cluster.h"
#include "exec/element.h"
#include "exec/initial.h"
#include "score.h"
#include "support/pipeline.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

const json& recorded_training() {
  static const json file = [] {
    std::ifstream in(SHARD_SOURCE_DIR "/tests/property/complex_gradients.json");
    return json::parse(in);
  }();
  return file;
}

HostTensor tensor_of_numbers(const TensorType& type, const json& numbers) {
  HostTensor tensor = zeros(type);
  const auto values = numbers.get<std::vector<double>>();
  REQUIRE(values.size() == number_count(type));
  from_doubles(values.data(), type.dtype, tensor.bytes.data(), values.size());
  return tensor;
}

std::string program_text(const std::string& layers, const std::string& optimizer) {
  return "sizes: {a: 4, b: 6, d: 2}\n"
         "inputs: {c: \"c64[a, b]\", k: \"f32[a, b]\", n: \"i32[a]\"}\n"
         "layers:\n"
         "  - param: {name: w, axes: [a, b], init: zeros, dtype: c64}\n"
         "  - param: {name: p, axes: [b, d], init: zeros, dtype: c64}\n"
         "  - param: {name: r, axes: [a, b], init: zeros}\n" +
         layers + "train: {loss: sum, returns: [state, loss, grads], optimizer: {" + optimizer +
         "}}\n";
}

struct DevicesRow {
  const char* rules;
  const char* where;
};
constexpr std::array<DevicesRow, 2> training_meshes = {
    {{"mesh: {x: 1}\nrules: []\n", ""},
     {"mesh: {x: 4, y: 2}\nrules: [[a, x], [b, y]]\n", " on 8 devices"}}};

/// A cluster with the recorded values in all inputs that are recorded, zeros elsewhere.
class RecordedTraining {
 public:
  RecordedTraining(const std::string& text, const char* rules)
      : planned_(plan_texts(text, rules)), cluster_(planned_.program, {}) {
    const Program& program = planned_.program;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const std::string& path = program.inputs[i].path;
      const std::string name = path.starts_with("params/") ? path.substr(7) : path;
      const auto value = recorded_training().at("values").find(name);
      const TensorType& type = program.inputs[i].global;
      cluster_.write_input(i, value == recorded_training().at("values").end()
                                  ? first_value(path, type)
                                  : tensor_of_numbers(type, *value));
    }
  }

  void run() { cluster_.run(); }

  void check(Score& score, const std::string& what, const std::string& path, const json& numbers,
             double bound) const {
    const HostTensor found = cluster_.read_output(output_at(planned_.program, path));
    const json wanted = numbers.is_array() ? numbers : json::array({numbers});
    score.check(what, relative_difference(found, tensor_of_numbers(found.type, wanted)), bound);
  }

 private:
  HostTensor first_value(const std::string& path, const TensorType& type) const {
    for (const StateLeaf& leaf : planned_.model.state) {
      if (leaf.path == path) return initial_tensor(leaf.init, type, 0, path);
    }
    return zeros(type);
  }

  Planned planned_;
  Cluster cluster_;
};

}  // namespace

TEST_CASE("gradients of complex parameters are those of JAX") {
  Score score("complex_gradients.json, cases");
  for (const json& one : recorded_training().at("cases")) {
    const auto name = one.at("name").get<std::string>();
    CAPTURE(name);
    for (const auto& [rules, where] : training_meshes) {
      RecordedTraining training(program_text(one.at("layers").get<std::string>(), "sgd: 0.1"),
                                rules);
      training.run();
      training.check(score, name + " loss" + where, "loss", one.at("loss"), 1e-5);
      for (const auto& [parameter, numbers] : one.at("grads").items()) {
        training.check(score, name + ' ' + parameter + where, "grads/" + parameter, numbers, 1e-5);
      }
    }
  }
  score.report();
}

TEST_CASE("optimizers move complex parameters as optax does") {
  const std::string layers =
      "  - let: fit = reduce_mean(square(abs(w @ p)))\n"
      "  - let: y = fit + reduce_mean(r * real(w * c))\n";
  Score score("complex_gradients.json, steps");
  for (const json& one : recorded_training().at("steps")) {
    const auto name = one.at("name").get<std::string>();
    CAPTURE(name);
    for (const auto& [rules, where] : training_meshes) {
      RecordedTraining training(program_text(layers, one.at("optimizer").get<std::string>()),
                                rules);
      training.run();
      training.run();
      for (const auto& [parameter, numbers] : one.at("params").items()) {
        training.check(score, name + ' ' + parameter + where, "params/" + parameter, numbers, 1e-5);
      }
    }
  }
  score.report();
}
