// The guide's model over three adam steps against the numbers recorded from JAX: every parameter,
// mu, nu, gradient, output and loss of the stored case, checksums of the guide's own size.
// Tolerances are those the recording states.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "score.h"
#include "support/pipeline.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

/// `DotReluDot_0.Dense_0.kernel` as a path of the train state.
std::string with_slashes(std::string leaf) {
  std::replace(leaf.begin(), leaf.end(), '.', '/');
  return leaf;
}

const std::vector<std::string> block_leaves = {"Dense_0.kernel", "W2"};

std::vector<std::string> leaves() {
  std::vector<std::string> all;
  for (int layer = 0; layer < 4; ++layer) {
    for (const std::string& leaf : block_leaves)
      all.push_back("DotReluDot_" + std::to_string(layer) + "." + leaf);
  }
  return all;
}

Planned plan_guide(const std::string& model, std::int64_t depth) {
  Overrides overrides;
  overrides.set = {"embed=" + std::to_string(depth), "hidden=" + std::to_string(depth),
                   "train.returns=[state, loss, grads, outputs]"};
  return plan_shipped(model, "flax_guide", overrides);
}

void zero_optimizer(Cluster& cluster, const Program& program) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Role role = program.inputs[i].role;
    if (role == Role::optimizer || role == Role::step)
      cluster.write_input(i, zeros(program.inputs[i].global));
  }
}

HostTensor hashed_uniform(const Shape& shape, std::uint32_t stream, float limit) {
  HostTensor tensor = zeros({DType::f32, shape});
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::uint32_t h = static_cast<std::uint32_t>(i) + stream * 0x9E3779B9U;
    h ^= h >> 16U;
    h *= 0x85EBCA6BU;
    h ^= h >> 13U;
    h *= 0xC2B2AE35U;
    h ^= h >> 16U;
    const float unit = static_cast<float>(static_cast<std::int32_t>(h >> 8U) - (1 << 23)) /
                       static_cast<float>(1 << 23);
    tensor.data<float>()[i] = unit * limit;
  }
  return tensor;
}

/// The loop form's leaf, whole or cut out of the scanned form's stack.
HostTensor leaf_of(const HostTensor& stacked, int layer) {
  Shape shape(stacked.type.shape.begin() + 1, stacked.type.shape.end());
  HostTensor one = zeros({stacked.type.dtype, shape});
  std::copy_n(stacked.bytes.begin() + layer * static_cast<std::ptrdiff_t>(one.bytes.size()),
              one.bytes.size(), one.bytes.begin());
  return one;
}

/// Reads `PREFIX/LEAF` of the loop form from a run of either form.
class Results {
 public:
  Results(const Cluster& cluster, const Program& program, bool is_scan)
      : cluster_(cluster), program_(program), is_scan_(is_scan) {}

  HostTensor read(const std::string& prefix, const std::string& leaf) const {
    if (!is_scan_) return cluster_.read_output(output_at(program_, prefix + with_slashes(leaf)));
    const int layer = leaf[std::string("DotReluDot_").size()] - '0';
    const std::string inner = leaf.substr(leaf.find('.') + 1);
    return leaf_of(cluster_.read_output(
                       output_at(program_, prefix + "ScanDotReluDot_0/" + with_slashes(inner))),
                   layer);
  }

 private:
  const Cluster& cluster_;
  const Program& program_;
  bool is_scan_;
};

void write_parameters(Cluster& cluster, const Program& program, bool is_scan,
                      const std::map<std::string, HostTensor>& params) {
  if (!is_scan) {
    for (const auto& [leaf, tensor] : params) {
      cluster.write_input(input_at(program, "params/" + with_slashes(leaf)), tensor);
    }
    return;
  }
  for (const std::string& inner : block_leaves) {
    HostTensor stack;
    for (int layer = 0; layer < 4; ++layer) {
      const HostTensor& one = params.at("DotReluDot_" + std::to_string(layer) + "." + inner);
      stack.bytes.insert(stack.bytes.end(), one.bytes.begin(), one.bytes.end());
      stack.type = one.type;
    }
    stack.type.shape.insert(stack.type.shape.begin(), 4);
    cluster.write_input(input_at(program, "params/ScanDotReluDot_0/" + with_slashes(inner)), stack);
  }
}

const std::string mu = "opt_state/0/mu/";
const std::string nu = "opt_state/0/nu/";

/// The steps of the case whose name all the recorded tensors begin with.
void score_stored(const std::string& model, bool is_scan,
                  const std::map<std::string, HostTensor>& recorded) {
  const std::string& first = recorded.begin()->first;
  const std::string own = first.substr(0, first.find('/'));
  const auto at = [&](const std::string& name) -> const HostTensor& {
    return recorded.at(own + "/" + name);
  };
  const std::int64_t depth = at("x").type.shape[1];
  const Planned planned = plan_guide(model, depth);
  Cluster cluster(planned.program, {});
  std::map<std::string, HostTensor> params;
  for (const std::string& leaf : leaves()) params[leaf] = at("params0/" + leaf);
  write_parameters(cluster, planned.program, is_scan, params);
  zero_optimizer(cluster, planned.program);
  cluster.write_input(input_at(planned.program, "x"), at("x"));
  Score score("numerics/guide_mlp.safetensors (" + model + " " + own + ")");
  const Results results(cluster, planned.program, is_scan);
  for (int step = 1; step <= 3; ++step) {
    cluster.run();
    const std::string prefix = "step" + std::to_string(step) + "/";
    const HostTensor loss = cluster.read_output(output_at(planned.program, "loss"));
    const HostTensor output = cluster.read_output(output_at(planned.program, "y"));
    double sum = 0;
    for (int i = 0; i < 8 * depth; ++i)
      sum += std::abs(double{at(prefix + "output").data<float>()[i]});
    score.check(
        prefix + "loss",
        std::abs(double{loss.data<float>()[0]} - double{at(prefix + "loss").data<float>()[0]}) /
            sum,
        1e-5);
    score.check(prefix + "output", relative_difference(output, at(prefix + "output")), 1e-5);
    for (const std::string& leaf : leaves()) {
      score.check(prefix + "grads/" + leaf,
                  relative_difference(results.read("grads/", leaf), at(prefix + "grads/" + leaf)),
                  5e-5);
      score.check(prefix + "mu/" + leaf,
                  relative_difference(results.read(mu, leaf), at(prefix + "mu/" + leaf)), 5e-5);
      score.check(prefix + "nu/" + leaf,
                  relative_difference(results.read(nu, leaf), at(prefix + "nu/" + leaf)), 5e-5);
      std::vector<const HostTensor*> grads;
      for (int past = 1; past <= step; ++past)
        grads.push_back(&at("step" + std::to_string(past) + "/grads/" + leaf));
      score.check(prefix + "params/" + leaf,
                  worst_clear_element(results.read("params/", leaf), at(prefix + "params/" + leaf),
                                      grads, step, 1e-3, 1e-5),
                  1e-5);
    }
  }
  score.report();
}

struct Sums {
  double sum = 0;
  double abs_sum = 0;
};

Sums sums_of(const HostTensor& tensor) {
  Sums sums;
  for (std::int64_t i = 0; i < element_count(tensor.type.shape); ++i) {
    const double value = tensor.data<float>()[i];
    sums.sum += value;
    sums.abs_sum += std::abs(value);
  }
  return sums;
}

/// Checksums: `sum` over `abs_sum` within the stated bound (2e-3 for gradients, mu and nu after the
/// first step).
void score_sums(Score& score, const std::string& name, const HostTensor& actual,
                const nlohmann::json& expected, double bound) {
  const Sums sums = sums_of(actual);
  const double scale = expected.at("abs_sum").get<double>();
  score.check(name + " sum", std::abs(sums.sum - expected.at("sum").get<double>()) / scale, bound);
  score.check(name + " abs_sum", std::abs(sums.abs_sum - scale) / scale, bound);
}

void score_hashed(const std::string& model, bool is_scan, const nlohmann::json& recorded,
                  std::uint32_t seed) {
  const auto depth = recorded.at("depth").get<std::int64_t>();
  const Planned planned = plan_guide(model, depth);
  Cluster cluster(planned.program, {});
  const float limit = static_cast<float>(std::sqrt(3.0 / static_cast<double>(depth)));
  std::map<std::string, HostTensor> params;
  std::uint32_t stream = 0;
  for (const std::string& leaf : leaves())
    params[leaf] = hashed_uniform({depth, depth}, stream++, limit);
  write_parameters(cluster, planned.program, is_scan, params);
  zero_optimizer(cluster, planned.program);
  const HostTensor x = hashed_uniform({8, depth}, 1000 + seed, 1);
  cluster.write_input(input_at(planned.program, "x"), x);
  Score score("numerics/guide_mlp.json (" + model + " depth" + std::to_string(depth) + "_hashed)");
  score_sums(score, "x", x, recorded.at("x"), 1e-12);
  for (const std::string& leaf : leaves())
    score_sums(score, "params0/" + leaf, params[leaf], recorded.at("params0").at(leaf), 1e-12);
  const Results results(cluster, planned.program, is_scan);
  for (int step = 1; step <= 3; ++step) {
    cluster.run();
    const std::string prefix = "step" + std::to_string(step);
    const nlohmann::json& want = recorded.at("steps").at(prefix);
    const double model_bound = step == 1 ? 1e-5 : 1e-4;
    const double gradient_bound = step == 1 ? 5e-5 : 2e-3;
    const HostTensor loss = cluster.read_output(output_at(planned.program, "loss"));
    score.check(
        prefix + "/loss",
        std::abs(double{loss.data<float>()[0]} -
                 recorded.at("losses").at(static_cast<std::size_t>(step - 1)).get<double>()) /
            want.at("output").at("abs_sum").get<double>(),
        model_bound);
    score_sums(score, prefix + "/output", cluster.read_output(output_at(planned.program, "y")),
               want.at("output"), model_bound);
    for (const std::string& leaf : leaves()) {
      score_sums(score, prefix + "/grads/" + leaf, results.read("grads/", leaf),
                 want.at("grads." + leaf), gradient_bound);
      score_sums(score, prefix + "/mu/" + leaf, results.read(mu, leaf), want.at("mu." + leaf),
                 gradient_bound);
      score_sums(score, prefix + "/nu/" + leaf, results.read(nu, leaf), want.at("nu." + leaf),
                 gradient_bound);
      score_sums(score, prefix + "/params/" + leaf, results.read("params/", leaf),
                 want.at("params." + leaf), 1e-4);
    }
  }
  score.report();
}

}  // namespace

TEST_CASE("three adam steps of the guide give the numbers JAX gave") {
  const auto recorded = recorded_tensors("numerics/guide_mlp.safetensors");
  if (!recorded.empty()) {
    score_stored("guide_mlp", false, recorded);
    score_stored("guide_mlp_scan", true, recorded);
  }
  const auto file = read_goldens("numerics/guide_mlp.json");
  if (!file) return;
  const auto seed = file->at("recorded_with").at("seed").get<std::uint32_t>();
  for (const auto& [name, recorded_case] : file->at("cases").items()) {
    if (!name.ends_with("_hashed")) continue;
    score_hashed("guide_mlp", false, recorded_case, seed);
    score_hashed("guide_mlp_scan", true, recorded_case, seed);
  }
}
