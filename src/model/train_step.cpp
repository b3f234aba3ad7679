#include "model/train_step.h"

#include <algorithm>

#include "base/check.h"
#include "model/differentiate.h"
#include "model/loss.h"
#include "model/microbatches.h"
#include "model/optimizer_state.h"
#include "model/updates.h"

namespace shard {
namespace {

/// What an optimizer does with complex parameters is what optax does: it compares none of them.
void refuse_clipped_complex(const OptimizerConfig& optimizer, const StateLeaf& parameter,
                            Diagnostics& diagnostics) {
  if (optimizer.kind == "clip") {
    diagnostics.error("dtype-mismatch", optimizer.at,
                      "clip received a complex value: " + parameter.path + " is " +
                          to_string(parameter.type) + ", and complex numbers have no order",
                      "clip_by_global_norm and clip_by_block_rms take complex numbers");
  }
  for (const OptimizerConfig& part : optimizer.parts) {
    refuse_clipped_complex(part, parameter, diagnostics);
  }
}

/// Everything can be trained: parameters are floating point or complex, outputs floating point.
bool is_trainable(const Model& model, const TrainConfig& train, Diagnostics& diagnostics) {
  for (const StateLeaf& leaf : model.state) {
    if (info(leaf.type.dtype).is_complex) {
      refuse_clipped_complex(train.optimizer, leaf, diagnostics);
    }
    if (is_inexact(leaf.type.dtype)) continue;
    diagnostics.error("dtype-mismatch", leaf.at,
                      leaf.path + " is " + to_string(leaf.type) +
                          "; only floating-point and complex parameters can be trained");
  }
  for (const GraphOutput& output : model.apply.outputs) {
    const TensorType& type = model.apply.value(output.value).type;
    if (info(type.dtype).is_float) continue;
    if (info(type.dtype).is_complex) {
      diagnostics.error(
          "dtype-mismatch", train.loss_at,
          "grad requires real-valued outputs, '" + output.path + "' is " + to_string(type),
          "real, imag or abs of it is real");
      continue;
    }
    diagnostics.error(
        "dtype-mismatch", train.loss_at,
        "the loss needs floating-point outputs, '" + output.path + "' is " + to_string(type));
  }
  return !diagnostics.has_errors();
}

class TrainStepBuilder {
 public:
  TrainStepBuilder(Model& model, const ModelConfig& config, TrainStart start,
                   Diagnostics& diagnostics)
      : model_(model),
        config_(config),
        train_(*config.train),
        diagnostics_(diagnostics),
        losses_(std::move(start.losses)),
        remats_(std::move(start.remats)),
        step_(start.step),
        graph_(std::move(start.forward)),
        builder_(graph_) {}

  void build() {
    graph_.name = "train_step";
    // Forward, about twice as much backward, an update per parameter; slots and their next values.
    graph_.nodes.reserve(4 * model_.apply.nodes.size() + model_.state.size());
    graph_.values.reserve(4 * model_.apply.values.size() + 6 * model_.state.size());
    for (const GraphOutput& output : graph_.outputs) forward_.push_back(output.value);
    parameters_ = model_.state.size();
    add_state();
    if (diagnostics_.has_errors()) return;
    add_inputs();
    const ValueId loss = add_loss(graph_, {forward_, losses_}, config_, diagnostics_);
    if (loss == ValueId::none) return;
    PassValues pass{loss, add_gradients(loss), forward_, step_};
    if (train_.microbatches > 1) pass = in_parts(pass);
    name_results(pass);
    const std::vector<ValueId> next = add_updated(pass.gradients);
    add_outputs(pass.loss, pass.gradients, next);
    finish();
  }

 private:
  /// step, parameters, optimizer: the order in which a Flax TrainState flattens.
  void add_state() {
    const StatePaths& paths = state_paths_of(config_.naming, "params/");
    StateLeaf step = step_leaf(paths, train_.at);
    optimizer_ = optimizer_state(train_.optimizer, model_.state, {paths, 1, config_.dtypes.state});
    for (const StateLeaf& leaf : optimizer_.leaves) refuse_real_slot(leaf);
    model_.state.reserve(1 + model_.state.size() + optimizer_.leaves.size());
    model_.state.insert(model_.state.begin(), std::move(step));
    model_.state.insert(model_.state.end(), optimizer_.leaves.begin(), optimizer_.leaves.end());
  }

  /// It would lose the imaginary parts.
  void refuse_real_slot(const StateLeaf& leaf) {
    if (leaf.follows < 1) return;
    const StateLeaf& parameter = model_.state[static_cast<std::size_t>(leaf.follows) - 1];
    if (!info(parameter.type.dtype).is_complex || info(leaf.type.dtype).is_complex) return;
    diagnostics_.error("dtype-mismatch", train_.optimizer.at,
                       leaf.path + " is " + to_string(leaf.type) + ", its parameter " +
                           parameter.path + " is " + to_string(parameter.type) +
                           ": what an optimizer keeps of complex numbers is complex",
                       "write c64 where the optimizer's dtype is given, or leave it out");
  }

  void add_inputs() {
    std::vector<GraphInput> inputs;
    inputs.reserve(model_.state.size() + graph_.inputs.size());
    for (std::size_t i = 0; i < model_.state.size(); ++i) {
      const StateLeaf& leaf = model_.state[i];
      const bool is_parameter = i >= 1 && i <= parameters_;
      const ValueId value = is_parameter ? graph_.inputs[i - 1].value : new_input(leaf);
      inputs.push_back(
          {value, leaf.path, leaf.role, static_cast<int>(i), leaf.placement, leaf.iteration});
    }
    for (std::size_t i = parameters_; i < graph_.inputs.size(); ++i) {
      inputs.push_back(graph_.inputs[i]);
    }
    graph_.inputs = std::move(inputs);
  }

  /// The step may be used in the forward pass already.
  ValueId new_input(const StateLeaf& leaf) {
    if (leaf.role != Role::step || step_ == ValueId::none) {
      return builder_.add_value(leaf.type, leaf.path, leaf.labels, leaf.at);
    }
    GraphValue& value = graph_.values[index_of(step_)];
    SHARD_CHECK(value.type == leaf.type, "random bits depend on the step as it is counted");
    value.name = leaf.path;
    value.at = leaf.at;
    return step_;
  }

  std::vector<ValueId> add_gradients(ValueId loss) {
    std::vector<ValueId> wrt;
    for (std::size_t i = 1; i <= parameters_; ++i) wrt.push_back(graph_.inputs[i].value);
    return differentiate(graph_, loss, wrt, std::move(remats_));
  }

  /// The pass as the body of a loop over parts of the batch.
  PassValues in_parts(const PassValues& pass) {
    builder_.origin = {"microbatches", train_.microbatches_at, Phase::forward, {}};
    const PassValues whole =
        looped_over_parts(builder_, pass, train_.microbatches, share_of_part(train_));
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      graph_.outputs[i].value = whole.outputs[i];
    }
    return whole;
  }

  void name_results(const PassValues& pass) {
    graph_.values[index_of(pass.loss)].name = "loss";
    for (std::size_t i = 0; i < pass.gradients.size(); ++i) {
      std::string& name = graph_.values[index_of(pass.gradients[i])].name;
      if (name.empty()) name = gradient_path(i);
    }
  }

  std::string gradient_path(std::size_t parameter) const {
    const StatePaths& paths = state_paths_of(config_.naming, "params/");
    return "grads/" + std::string(tail_of(model_.state[1 + parameter].path, paths));
  }

  /// The next value of every state leaf.
  std::vector<ValueId> add_updated(const std::vector<ValueId>& gradients) {
    const auto inputs = [this](std::size_t first, std::size_t count) {
      std::vector<ValueId> values;
      for (std::size_t i = first; i < first + count; ++i) values.push_back(graph_.inputs[i].value);
      return values;
    };
    const std::size_t first_slot = 1 + parameters_;
    std::vector<ValueId> next{counted_up(0)};
    const std::span<const StateLeaf> state = model_.state;
    const Updated updated = add_updates(
        builder_, {optimizer_, state.subspan(1, parameters_), inputs(1, parameters_), gradients,
                   inputs(first_slot, state.size() - first_slot), train_.optimizer.at});
    next.insert(next.end(), updated.values.begin(), updated.values.end());
    next.insert(next.end(), updated.slots.begin(), updated.slots.end());
    return next;
  }

  ValueId counted_up(std::size_t leaf) {
    const StateLeaf& state = model_.state[leaf];
    builder_.origin = {state.path, train_.optimizer.at, Phase::update, state.iteration};
    return builder_.emit(Op::shift, {graph_.inputs[leaf].value}, Attributes{{"value", 1.0}});
  }

  void add_outputs(ValueId loss, const std::vector<ValueId>& gradients,
                   const std::vector<ValueId>& next) {
    std::vector<GraphOutput> outputs;
    if (train_.returns_state) {
      model_.returns.emplace_back("state");
      for (std::size_t i = 0; i < model_.state.size(); ++i) {
        const StateLeaf& leaf = model_.state[i];
        const auto position = static_cast<int>(i);
        outputs.push_back({next[i], leaf.path, leaf.role, position, train_.donate ? position : -1,
                           leaf.placement, leaf.iteration});
      }
    }
    if (train_.returns_loss) {
      model_.returns.emplace_back("loss");
      outputs.push_back({loss, "loss", Role::loss, -1, -1, std::nullopt});
    }
    if (train_.returns_grads) {
      model_.returns.emplace_back("grads");
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        outputs.push_back({gradients[i], gradient_path(i), Role::gradient, -1, -1, std::nullopt,
                           model_.state[1 + i].iteration});
      }
    }
    if (train_.returns_outputs) {
      model_.returns.emplace_back("outputs");
      outputs.insert(outputs.end(), graph_.outputs.begin(), graph_.outputs.end());
    }
    graph_.outputs = std::move(outputs);
  }

  void finish() {
    Region& body = graph_.regions.front();
    body.parameters.clear();
    body.results.clear();
    for (const GraphInput& input : graph_.inputs) body.parameters.push_back(input.value);
    for (const GraphOutput& output : graph_.outputs) body.results.push_back(output.value);
    for (std::string& name : remove_dead_code(graph_)) {
      // Not a layer: whether the loss itself is computed is what `returns` says.
      const auto& known = model_.dropped;
      const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
      if (name != "loss" && !is_known) model_.dropped.push_back(std::move(name));
    }
    model_.train_step = std::move(graph_);
  }

  Model& model_;
  const ModelConfig& config_;
  const TrainConfig& train_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> losses_;
  std::vector<RematRange> remats_;
  ValueId step_;
  OptimizerState optimizer_;
  Graph graph_;
  GraphBuilder builder_;
  std::vector<ValueId> forward_;
  std::size_t parameters_ = 0;
};

}  // namespace

void add_train_step(Model& model, const ModelConfig& config, TrainStart start,
                    Diagnostics& diagnostics) {
  SHARD_CHECK(config.train.has_value(), "a train step is asked for");
  if (!is_trainable(model, *config.train, diagnostics)) return;
  TrainStepBuilder(model, config, std::move(start), diagnostics).build();
}

}  // namespace shard
