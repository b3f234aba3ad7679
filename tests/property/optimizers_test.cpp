// Optimizers and schedules against the numbers recorded from optax. The gradients are those of the
// recording: the loss is the sum of each parameter times an input.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "exec/cluster.h"
#include "exec/initial.h"
#include "score.h"
#include "support/pipeline.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

struct WrittenAs {
  const char* recorded;  ///< the name of the case
  const char* written;   ///< as our files write it
};

constexpr std::array<WrittenAs, 19> optimizers = {{
    {"sgd", "sgd: 0.1"},
    {"momentum", "sgd: {learning_rate: 0.1, momentum: 0.9}"},
    {"nesterov", "sgd: {learning_rate: 0.1, momentum: 0.9, nesterov: true}"},
    {"adam", "adam: 0.01"},
    {"adam_eps_root", "adam: {learning_rate: 0.01, b1: 0.8, b2: 0.99, eps: 1e-6, eps_root: 1e-8}"},
    {"adam_nesterov", "adam: {learning_rate: 0.01, nesterov: true}"},
    {"adam_bf16_mu", "adam: {learning_rate: 0.01, mu_dtype: bf16}"},
    {"adamw", "adamw: {learning_rate: 0.01, weight_decay: 0.1}"},
    {"adamw_masked",
     "adamw: {learning_rate: 0.01, weight_decay: 0.1, mask: [\"*matrix\", \"*cube\"]}"},
    {"adamw_clipped",
     "chain: [clip_by_global_norm: 0.5, adamw: {learning_rate: 0.01, weight_decay: 0.1}]"},
    {"adafactor", "adafactor: {learning_rate: 0.01, min_dim_size_to_factor: 2}"},
    {"adafactor_unfactored", "adafactor: 0.01"},
    {"adafactor_momentum",
     "adafactor: {learning_rate: 0.01, min_dim_size_to_factor: 2, momentum: 0.9,"
     " weight_decay_rate: 0.01}"},
    {"lion", "lion: {learning_rate: 0.01, weight_decay: 0.1}"},
    {"rmsprop", "rmsprop: 0.01"},
    {"adagrad", "adagrad: 0.1"},
    {"lamb", "lamb: {learning_rate: 0.01, weight_decay: 0.1}"},
    {"adam_scheduled",
     "adam: {learning_rate: {linear: {init_value: 0, end_value: 0.1, transition_steps: 4}}}"},
    {"accumulate_two", "multi_steps: {optimizer: {adam: 0.01}, every: 2}"},
}};

std::string model_with(const std::string& optimizer) {
  return "sizes: {a: 4, b: 6, c: 2, d: 3, e: 4}\n"
         "inputs: {g_matrix: \"f32[a, b]\", g_vector: \"f32[b]\", g_cube: \"f32[c, d, e]\"}\n"
         "layers:\n"
         "  - param: {name: matrix, axes: [a, b], init: zeros}\n"
         "  - param: {name: vector, axes: [b], init: zeros}\n"
         "  - param: {name: cube, axes: [c, d, e], init: zeros}\n"
         "  - let: s = reduce_sum(matrix * g_matrix) + reduce_sum(vector * g_vector)\n"
         "  - let: y = s + reduce_sum(cube * g_cube)\n"
         "train: {loss: sum, returns: [state], optimizer: {" +
         optimizer + "}}\n";
}

const char* const one_device_x = "mesh: {x: 1}\nrules: []\n";
const char* const eight_devices = "mesh: {x: 2, y: 4}\nrules: [[a, y], [b, x], [c, x], [e, y]]\n";

/// `1.0.mu.matrix` as a path of the train state.
std::string state_path(const std::string& leaf) {
  std::string path = "opt_state/" + leaf;
  for (char& c : path) c = c == '.' ? '/' : c;
  return path;
}

const std::array<std::string, 3> parameters = {"matrix", "vector", "cube"};

void score_optimizer(Score& score, const WrittenAs& one, const char* rules, const char* where,
                     const std::map<std::string, HostTensor>& recorded) {
  const Planned planned = plan_texts(model_with(one.written), rules);
  const Program& program = planned.program;
  Cluster cluster(program, {});
  for (const StateLeaf& leaf : planned.model.state) {
    cluster.write_input(input_at(program, leaf.path),
                        leaf.init.kind == "constant" || leaf.init.kind == "zeros"
                            ? initial_tensor(leaf.init, leaf.type, 0, leaf.path)
                            : zeros(leaf.type));
  }
  for (const std::string& name : parameters) {
    cluster.write_input(input_at(program, "params/" + name), recorded.at("common/params0/" + name));
  }
  const std::string own = std::string(one.recorded) + "/";
  // A mean kept in bf16 may fall to the other neighbour: a 256th of an update of 0.01 a step.
  const bool keeps_bf16 =
      std::any_of(planned.model.state.begin(), planned.model.state.end(),
                  [](const StateLeaf& leaf) { return leaf.type.dtype == DType::bf16; });
  for (int step = 1; step <= 3; ++step) {
    const std::string at = "step" + std::to_string(step) + "/";
    for (const std::string& name : parameters) {
      cluster.write_input(input_at(program, "g_" + name),
                          recorded.at("common/" + at + "grads/" + name));
    }
    cluster.run();
    for (const std::string& name : parameters) {
      const HostTensor found = cluster.read_output(output_at(program, "params/" + name));
      score.check(own + at + "params/" + name + where,
                  relative_difference(found, recorded.at(own + at + "params/" + name)),
                  keeps_bf16 ? 1e-4 : 1e-5);
    }
    const std::string state = own + at + "state/";
    for (auto leaf = recorded.lower_bound(state);
         leaf != recorded.end() && leaf->first.starts_with(state); ++leaf) {
      const HostTensor found =
          cluster.read_output(output_at(program, state_path(leaf->first.substr(state.size()))));
      // Rounded to bf16 on both sides, an element may fall to the other neighbour.
      const double bound = leaf->second.type.dtype == DType::bf16 ? 1.0 / 128 : 1e-5;
      score.check(leaf->first + where, relative_difference(found, leaf->second), bound);
    }
  }
}

constexpr std::array<WrittenAs, 12> schedules = {{
    {"constant", "constant: 3e-4"},
    {"linear_warmup", "linear: {init_value: 0, end_value: 1e-3, transition_steps: 100}"},
    {"linear_decay",
     "linear: {init_value: 1e-3, end_value: 1e-5, transition_steps: 200, transition_begin: 50}"},
    {"cosine", "cosine_decay: {init_value: 1e-3, decay_steps: 500, alpha: 0.1}"},
    {"warmup_cosine",
     "warmup_cosine_decay: {peak_value: 1e-3, warmup_steps: 100, decay_steps: 1000,"
     " end_value: 1e-5}"},
    {"exponential",
     "exponential_decay: {init_value: 1e-3, transition_steps: 100, decay_rate: 0.5}"},
    {"exponential_staircase",
     "exponential_decay: {init_value: 1e-3, transition_steps: 100, decay_rate: 0.5,"
     " staircase: true}"},
    {"piecewise_constant",
     "piecewise_constant: {init_value: 1e-2, boundaries_and_scales: {100: 0.1, 500: 0.5}}"},
    {"polynomial",
     "polynomial: {init_value: 1e-3, end_value: 1e-5, power: 2, transition_steps: 400,"
     " transition_begin: 10}"},
    {"rsqrt", "rsqrt: {scale: 1e-2, least_step: 100}"},
    {"warmup_rsqrt", "warmup_rsqrt: {scale: 1e-2, warmup_steps: 100}"},
    {"joined",
     "join: {schedules: [linear: {init_value: 0, end_value: 1e-3, transition_steps: 50},"
     " cosine_decay: {init_value: 1e-3, decay_steps: 450}], boundaries: [50]}"},
}};

/// One parameter, zero at first, whose gradient is one: after a step of sgd it is minus the rate.
double rate_at(Cluster& cluster, const Program& program, std::int32_t step) {
  HostTensor count = zeros({DType::i32, {}});
  *count.data<std::int32_t>() = step;
  cluster.write_input(input_at(program, "opt_state/1/count"), count);
  cluster.write_input(input_at(program, "params/w"), zeros({DType::f32, {}}));
  HostTensor one = zeros({DType::f32, {}});
  *one.data<float>() = 1;
  cluster.write_input(input_at(program, "g"), one);
  cluster.run();
  const HostTensor moved = cluster.read_output(output_at(program, "params/w"));
  return -double{moved.data<float>()[0]};
}

}  // namespace

TEST_CASE("optimizers move parameters and state as optax does") {
  const auto recorded = recorded_tensors("numerics/optimizers.safetensors");
  if (recorded.empty()) return;
  Score score("numerics/optimizers.safetensors");
  for (const WrittenAs& one : optimizers) {
    CAPTURE(one.recorded);
    if (!has_case(recorded, one.recorded)) continue;
    score_optimizer(score, one, one_device_x, "", recorded);
    score_optimizer(score, one, eight_devices, " on 8 devices", recorded);
  }
  score.report();
}

TEST_CASE("learning rates are those of the schedules of optax") {
  const auto file = read_goldens("numerics/schedules.json");
  if (!file) return;
  Score score("numerics/schedules.json");
  for (const WrittenAs& one : schedules) {
    CAPTURE(one.recorded);
    if (!file->at("cases").contains(one.recorded)) continue;
    const std::string model =
        std::string(
            "inputs: {g: \"f32[]\"}\n"
            "layers:\n"
            "  - param: {name: w, axes: [], init: zeros}\n"
            "  - let: y = w * g\n"
            "train: {loss: sum, returns: [state], optimizer: {sgd: {learning_rate: {") +
        one.written + "}}}}\n";
    const Planned planned = plan_texts(model, one_device_x);
    Cluster cluster(planned.program, {});
    for (const StateLeaf& leaf : planned.model.state) {
      cluster.write_input(input_at(planned.program, leaf.path), zeros(leaf.type));
    }
    const json& wanted = file->at("cases").at(one.recorded);
    double peak = 0;
    for (const double value : wanted.at("values")) peak = std::max(peak, value);
    for (std::size_t i = 0; i < wanted.at("steps").size(); ++i) {
      const auto step = wanted.at("steps")[i].get<std::int32_t>();
      const double rate = rate_at(cluster, planned.program, step);
      const double difference = std::abs(rate - wanted.at("values")[i].get<double>()) / peak;
      score.check(std::string(one.recorded) + " at " + std::to_string(step), difference, 1e-6);
    }
  }
  score.report();
}
