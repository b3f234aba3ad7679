#include <algorithm>
#include <numeric>

#include "base/nearest.h"
#include "model/check_layers.h"
#include "model/layer_kinds.h"
#include "model/microbatches.h"
#include "model/model.h"
#include "model/state_paths.h"
#include "model/train_step.h"

namespace shard {
namespace {

/// The same mistake in a block that is used several times is one mistake.
std::vector<Diagnostic> without_repetition(const std::vector<Diagnostic>& all) {
  std::vector<Diagnostic> unique;
  for (const Diagnostic& diagnostic : all) {
    if (std::find(unique.begin(), unique.end(), diagnostic) == unique.end()) {
      unique.push_back(diagnostic);
    }
  }
  return unique;
}

void throw_if_errors(const Diagnostics& diagnostics) {
  if (diagnostics.has_errors()) throw Error(without_repetition(diagnostics.all()));
}

/// The one of the numbers that sorts first as text: 10 before 3.
std::string first_as_text(std::int64_t first, std::int64_t last) {
  std::string least = std::to_string(first);
  for (std::int64_t power = 10; power <= last; power *= 10) {
    if (power > first) least = std::min(least, std::to_string(power));
  }
  return least;
}

/// The path by which a leaf is sorted: of several equal ones, that of the first.
std::string sorted_path(const StateLeaf& leaf) {
  const auto open = leaf.path.find('{');
  if (open == std::string::npos) return leaf.path;
  const auto close = leaf.path.find('}', open);
  const std::int64_t first = std::stoll(leaf.path.substr(open + 1));
  return leaf.path.substr(0, open) + first_as_text(first, first + leaf.iteration.count() - 1) +
         leaf.path.substr(close + 1);
}

/// Flax flattens dicts sorted by key, so paths compare part by part: a slash sorts before all else.
bool flattens_before(const std::string& a, const std::string& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
    return rank(x) < rank(y);
  });
}

std::vector<GraphInput> data_inputs(Lowering& lowering, Scope& scope) {
  std::vector<GraphInput> inputs;
  for (const InputConfig& input : lowering.config.inputs) {
    TensorType type{input.type.dtype, {}};
    std::vector<std::string> labels;
    for (const DimConfig& dim : input.type.dims) {
      type.shape.push_back(dim.size);
      labels.push_back(dim.label);
    }
    std::vector<std::int64_t> factors = type.shape;
    factors.push_back(info(type.dtype).bytes);
    if (!checked_product(factors)) {
      lowering.diagnostics.error("size-overflow", input.at,
                                 to_string(type) + " has more bytes than a 63-bit count can hold");
      scope.bind(input.name, ValueId::none);
      continue;
    }
    if (!scope.claim("input " + input.name)) {
      lowering.diagnostics.error("duplicate-name", input.at,
                                 "there is an input '" + input.name + "' already");
    }
    const ValueId value = lowering.builder.add_value(type, input.name, std::move(labels), input.at);
    scope.bind(input.name, value);
    if (inputs.empty()) scope.running = value;
    inputs.push_back({value, input.name, Role::input, -1, input.type.placement});
  }
  return inputs;
}

/// The value of a declared output: the one of that name or, for a single output, the last value.
ValueId output_value(Lowering& lowering, const Scope& scope, const OutputConfig& output) {
  if (scope.has(output.name) || lowering.config.outputs.size() > 1) {
    return scope.find(output.name, output.at, lowering.diagnostics);
  }
  return scope.running;
}

/// Reports a value that is not of the declared type; the dtype is converted.
ValueId checked_output(Lowering& lowering, ValueId value, const OutputConfig& output) {
  if (!output.type || value == ValueId::none) return value;
  const Shape shape = lowering.type(value).shape;
  const std::vector<DimConfig>& dims = output.type->dims;
  if (dims.size() != shape.size()) {
    lowering.diagnostics.error("rank-mismatch", output.type->at,
                               "output '" + output.name + "' has " + std::to_string(dims.size()) +
                                   " dims, its value is " + lowering.described(value));
    return ValueId::none;
  }
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].size == shape[dim]) continue;
    lowering.diagnostics.error("shape-mismatch", dims[dim].at,
                               "dim " + std::to_string(dim) + " of output '" + output.name +
                                   "' is " + std::to_string(dims[dim].size) + ", its value is " +
                                   lowering.described(value));
    return ValueId::none;
  }
  lowering.builder.origin = {output.name, output.at, Phase::forward, {}};
  return lowering.converted(value, output.type->dtype);
}

std::vector<GraphOutput> outputs_of(Lowering& lowering, const Scope& scope) {
  std::vector<GraphOutput> outputs;
  const auto add = [&](ValueId value, std::string path, std::optional<SpecConfig> placement) {
    if (value == ValueId::none) return;
    outputs.push_back({value, std::move(path), Role::output, -1, -1, std::move(placement)});
  };
  if (lowering.config.outputs.empty()) add(scope.running, "output", std::nullopt);
  for (const OutputConfig& output : lowering.config.outputs) {
    const ValueId value = output_value(lowering, scope, output);
    std::optional<SpecConfig> placement;
    if (output.type) placement = output.type->placement;
    add(checked_output(lowering, value, output), output.name, std::move(placement));
  }
  return outputs;
}

/// Parameters in flattening order, then the data.
void add_inputs(Model& model, Lowering& lowering, std::vector<GraphInput> data) {
  std::vector<std::size_t> order(lowering.leaves.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::string> paths;
  paths.reserve(order.size());
  for (const StateLeaf& leaf : lowering.leaves) paths.push_back(sorted_path(leaf));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return flattens_before(paths[a], paths[b]); });
  // The step counter stands before the parameters of a train state.
  const int first = lowering.config.train ? 1 : 0;
  Graph& graph = model.apply;
  graph.inputs.reserve(order.size() + data.size());
  model.state.reserve(order.size());
  for (const std::size_t i : order) {
    StateLeaf& leaf = lowering.leaves[i];
    graph.inputs.push_back({lowering.leaf_values[i], leaf.path, Role::parameter,
                            first + static_cast<int>(model.state.size()), leaf.placement,
                            leaf.iteration});
    model.state.push_back(std::move(leaf));
  }
  std::move(data.begin(), data.end(), std::back_inserter(graph.inputs));
  for (const GraphInput& input : graph.inputs) {
    graph.regions.front().parameters.push_back(input.value);
  }
}

void count_parameters(Model& model, Diagnostics& diagnostics) {
  for (const StateLeaf& leaf : model.state) {
    std::int64_t elements = element_count(leaf.type.shape);
    const bool is_too_large =
        __builtin_mul_overflow(elements, leaf.iteration.count(), &elements) ||
        __builtin_add_overflow(model.parameter_count, elements, &model.parameter_count);
    if (!is_too_large) continue;
    diagnostics.error("size-overflow", leaf.at,
                      "the parameters together are more than a 63-bit count can hold");
    return;
  }
}

/// Builds `model.apply` and returns what the train step starts from: the same with everything still
/// there that only a loss needs.
TrainStart build_apply(Model& model, const ModelConfig& config, const BuildOptions& options,
                       Diagnostics& diagnostics) {
  model.apply.name = "apply";
  Lowering lowering(config, options, model.apply, diagnostics);
  Scope scope("", config.layers);
  std::vector<GraphInput> data = data_inputs(lowering, scope);
  if (config.inputs.empty()) {
    diagnostics.error("missing-key", {config.file, 0, 0, 1}, "the model has no inputs",
                      "write inputs: {x: \"f32[batch, embed]\"}");
    return {};
  }
  lower_layers(lowering, scope, config.layers);
  model.apply.outputs = outputs_of(lowering, scope);
  if (diagnostics.has_errors()) return {};
  add_inputs(model, lowering, std::move(data));
  for (const GraphOutput& output : model.apply.outputs) {
    model.apply.regions.front().results.push_back(output.value);
  }
  model.folded = std::move(lowering.folded);
  model.parts = std::move(lowering.parts);
  TrainStart start;
  if (config.train) {
    start = {model.apply, std::move(lowering.losses), std::move(lowering.remats), lowering.step,
             !lowering.differs_in_training};
  }
  model.dropped = remove_dead_code(model.apply);
  count_parameters(model, diagnostics);
  return start;
}

/// The same for training: with what only that does.
TrainStart build_training(const ModelConfig& config, BuildOptions options,
                          Diagnostics& diagnostics) {
  options.training = true;
  options.lists_parts = false;
  Model trained;
  return build_apply(trained, config, options, diagnostics);
}

/// What a step over parts of the batch starts from: the forward function of one part.
TrainStart build_part(const ModelConfig& config, const BuildOptions& options,
                      Diagnostics& diagnostics) {
  const auto small = with_small_batch(config, diagnostics);
  return small ? build_training(*small, options, diagnostics) : TrainStart{};
}

/// Every iteration for itself.
BuildOptions written_out(const BuildOptions& options) {
  BuildOptions plain;
  plain.mesh_axes = options.mesh_axes;
  return plain;
}

/// NNX keeps the step in the optimizer, which flattens behind the model.
void step_last(Model& model) {
  const auto count = static_cast<int>(model.state.size());
  const auto moved = [&](int position) {
    return position < 0 || position >= count ? position : (position + count - 1) % count;
  };
  std::rotate(model.state.begin(), model.state.begin() + 1, model.state.end());
  for (StateLeaf& leaf : model.state) leaf.follows = moved(leaf.follows);
  const auto move_ports = [&](auto& ports, std::vector<ValueId>& values) {
    const bool has_state = !ports.empty() && ports.front().state_leaf == 0;
    if (has_state) {
      std::rotate(ports.begin(), ports.begin() + 1, ports.begin() + count);
      std::rotate(values.begin(), values.begin() + 1, values.begin() + count);
    }
    for (auto& port : ports) port.state_leaf = moved(port.state_leaf);
  };
  Graph& step = *model.train_step;
  move_ports(step.inputs, step.regions.front().parameters);
  move_ports(step.outputs, step.regions.front().results);
  for (GraphOutput& output : step.outputs) output.donates = moved(output.donates);
  for (GraphInput& input : model.apply.inputs) input.state_leaf = moved(input.state_leaf);
}

}  // namespace

Model build_model(const ModelConfig& config, const BuildOptions& options) {
  Diagnostics diagnostics;
  const bool ends = check_layers(config, diagnostics);
  Model model;
  model.name = config.name;
  TrainStart start;
  const bool in_parts = config.train && config.train->microbatches > 1;
  // A loop over parts of the batch has no iterations that stand for several.
  if (ends)
    start = build_apply(model, config, in_parts ? written_out(options) : options, diagnostics);
  throw_if_errors(diagnostics);
  if (in_parts) {
    start = build_part(config, written_out(options), diagnostics);
  } else if (!start.is_of_training) {
    start = build_training(config, options, diagnostics);
  }
  throw_if_errors(diagnostics);
  if (config.train) add_train_step(model, config, std::move(start), diagnostics);
  throw_if_errors(diagnostics);
  model.notes = without_repetition(diagnostics.all());
  if (config.naming == Naming::nnx && model.train_step) step_last(model);
  restyle_paths(model, config.paths);
  return model;
}

}  // namespace shard
