#include "cli/run_arrays.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/nearest.h"
#include "checkpoint/safetensors.h"
#include "exec/initial.h"

namespace shard {
namespace {

/// An array that a file may or must hold.
struct WantedArray {
  std::string path;
  TensorType type;
  bool is_needed = false;
};

/// The arrays of a file by name, checked against what is wanted.
std::map<std::string, HostTensor> read_arrays(const std::string& file,
                                              const std::vector<WantedArray>& wanted) {
  DiskReader reader;
  std::map<std::string, HostTensor> by_name;
  for (NamedTensor& one : read_safetensors(file, reader)) {
    by_name.emplace(one.name, std::move(one.tensor));
  }
  std::vector<std::string> known;
  for (const WantedArray& want : wanted) known.push_back(want.path);
  Diagnostics diagnostics;
  for (const auto& [name, tensor] : by_name) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    diagnostics.error("unknown-array", {file}, "the model has no array '" + name + "'",
                      did_you_mean(name, known, "arrays", 8));
  }
  for (const WantedArray& want : wanted) {
    const auto place = by_name.find(want.path);
    if (place == by_name.end()) {
      if (want.is_needed) {
        diagnostics.error("missing-array", {file}, "there is no array '" + want.path + "'",
                          "it must be " + to_string(want.type));
      }
    } else if (place->second.type != want.type) {
      diagnostics.error("array-mismatch", {file},
                        "'" + want.path + "' is " + to_string(place->second.type) + ", expected " +
                            to_string(want.type));
    }
  }
  diagnostics.throw_if_errors();
  return by_name;
}

/// Of each leaf of the state what `--params` says.
std::vector<std::optional<HostTensor>> given_state(const Plan& plan, const Options& options) {
  std::vector<WantedArray> wanted;
  for (const StateLeaf& leaf : plan.model.state) {
    wanted.push_back({leaf.path, leaf.type, leaf.role == Role::parameter});
  }
  std::map<std::string, HostTensor> given;
  if (!options.params.empty()) given = read_arrays(options.params, wanted);
  std::vector<std::optional<HostTensor>> state(plan.model.state.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto place = given.find(plan.model.state[i].path);
    if (place != given.end()) state[i] = std::move(place->second);
  }
  return state;
}

std::vector<NamedTensor> make_inputs(const Plan& plan, const Options& options, std::uint64_t seed) {
  std::vector<WantedArray> wanted;
  for (const GraphInput& input : plan.apply.sharded.graph.inputs) {
    if (input.state_leaf >= 0) continue;
    wanted.push_back({input.path, plan.apply.sharded.given_type(input.value), true});
  }
  std::map<std::string, HostTensor> given;
  if (!options.inputs.empty()) given = read_arrays(options.inputs, wanted);
  std::vector<NamedTensor> inputs;
  for (const WantedArray& want : wanted) {
    const auto place = given.find(want.path);
    inputs.push_back({want.path, place != given.end() ? std::move(place->second)
                                                      : example_input(want.type, seed, want.path)});
  }
  return inputs;
}

}  // namespace

HostTensor RunArrays::argument(const GraphInput& input) const {
  if (input.state_leaf < 0) return data(input.path);
  const auto leaf = static_cast<std::size_t>(input.state_leaf);
  if (given[leaf]) return *given[leaf];
  const StateLeaf& state = model->state[leaf];
  return initial_tensor(state.init, state.type, seed, state.path);
}

const HostTensor& RunArrays::data(const std::string& path) const {
  const auto place = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const NamedTensor& one) { return one.name == path; });
  SHARD_CHECK(place != inputs.end(), "both functions have the same data inputs");
  return place->tensor;
}

RunArrays make_arrays(const Plan& plan, const Options& options, std::int64_t seed) {
  const auto bits = static_cast<std::uint64_t>(seed);
  return {&plan.model, bits, given_state(plan, options), make_inputs(plan, options, bits)};
}

void feed(Cluster& cluster, const Graph& graph, const RunArrays& arrays) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    if (input.state_leaf < 0) {
      cluster.write_input(i, arrays.data(input.path));
      continue;
    }
    const auto leaf = static_cast<std::size_t>(input.state_leaf);
    if (arrays.given[leaf]) {
      cluster.write_input(i, *arrays.given[leaf]);
      continue;
    }
    const StateLeaf& state = arrays.model->state[leaf];
    cluster.fill_input(i, state.init, arrays.seed, state.path);
  }
}

std::vector<HostTensor> arguments_of(const Graph& graph, const RunArrays& arrays) {
  std::vector<HostTensor> arguments;
  for (const GraphInput& input : graph.inputs) arguments.push_back(arrays.argument(input));
  return arguments;
}

}  // namespace shard
