#include "model/train_step.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"
#include "base/nearest.h"
#include "model/optimizer.h"
#include "model/optimizer_state.h"

namespace shard {
namespace {

struct LossKind {
  std::string_view word;
  bool is_squared;
  bool is_mean;
};

constexpr std::array<LossKind, 3> losses = {{
    {"sum", false, false},
    {"mean", false, true},
    {"mse", true, true},
}};

const LossKind* loss_kind(const TrainConfig& train, Diagnostics& diagnostics) {
  if (train.loss.empty()) {
    diagnostics.error("missing-loss", train.at, "the train step needs a loss", "write loss: sum");
    return nullptr;
  }
  std::vector<std::string> known;
  for (const LossKind& kind : losses) {
    if (kind.word == train.loss) return &kind;
    known.emplace_back(kind.word);
  }
  if (train.loss == "cross_entropy") {
    diagnostics.error("not-yet", train.loss_at, "loss 'cross_entropy' is not built by this version",
                      "use one of: sum, mean, mse");
  } else {
    diagnostics.error("unknown-loss", train.loss_at, "there is no loss '" + train.loss + "'",
                      did_you_mean(train.loss, known));
  }
  return nullptr;
}

/// Everything can be trained: parameters and outputs are floating point.
bool is_trainable(const Model& model, const TrainConfig& train, Diagnostics& diagnostics) {
  for (const StateLeaf& leaf : model.state) {
    if (info(leaf.type.dtype).is_float) continue;
    diagnostics.error("dtype-mismatch", leaf.at,
                      leaf.path + " is " + to_string(leaf.type) +
                          "; only floating-point parameters can be trained");
  }
  for (const GraphOutput& output : model.apply.outputs) {
    const TensorType& type = model.apply.value(output.value).type;
    if (info(type.dtype).is_float) continue;
    diagnostics.error(
        "dtype-mismatch", train.loss_at,
        "the loss needs floating-point outputs, '" + output.path + "' is " + to_string(type));
  }
  return !diagnostics.has_errors();
}

std::int64_t elements_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::int64_t count = 0;
  for (const ValueId id : values) count += element_count(graph.value(id).type.shape);
  return count;
}

class TrainStepBuilder {
 public:
  TrainStepBuilder(Model& model, const ModelConfig& config, const LossKind& loss,
                   const OptimizerKind& optimizer, Attributes attributes)
      : model_(model),
        config_(config),
        train_(*config.train),
        loss_kind_(loss),
        optimizer_(optimizer),
        attributes_(std::move(attributes)),
        graph_(model.apply),
        builder_(graph_) {}

  void build() {
    graph_.name = "train_step";
    // Forward, about twice as much backward, an update per parameter; slots and their next values.
    graph_.nodes.reserve(4 * model_.apply.nodes.size() + model_.state.size());
    graph_.values.reserve(4 * model_.apply.values.size() + 6 * model_.state.size());
    for (const GraphOutput& output : graph_.outputs) forward_.push_back(output.value);
    parameters_ = model_.state.size();
    add_state();
    add_inputs();
    const ValueId loss = add_loss();
    const std::vector<ValueId> gradients = add_gradients(loss);
    const std::vector<ValueId> next = add_updates(gradients);
    add_outputs(loss, gradients, next);
    finish();
  }

 private:
  /// step, parameters, optimizer: the order in which a Flax TrainState flattens.
  void add_state() {
    const StatePaths& paths = state_paths_of(config_.naming, "params/");
    StateLeaf step = step_leaf(paths, train_.at);
    std::vector<StateLeaf> slots =
        optimizer_state(train_.optimizer, model_.state, {paths, 1, config_.dtypes.state});
    model_.state.reserve(1 + model_.state.size() + slots.size());
    model_.state.insert(model_.state.begin(), std::move(step));
    std::move(slots.begin(), slots.end(), std::back_inserter(model_.state));
  }

  void add_inputs() {
    std::vector<GraphInput> inputs;
    inputs.reserve(model_.state.size() + graph_.inputs.size());
    for (std::size_t i = 0; i < model_.state.size(); ++i) {
      const StateLeaf& leaf = model_.state[i];
      const bool is_parameter = i >= 1 && i <= parameters_;
      const ValueId value = is_parameter
                                ? graph_.inputs[i - 1].value
                                : builder_.add_value(leaf.type, leaf.path, leaf.labels, leaf.at);
      inputs.push_back(
          {value, leaf.path, leaf.role, static_cast<int>(i), leaf.placement, leaf.iteration});
    }
    for (std::size_t i = parameters_; i < graph_.inputs.size(); ++i) {
      inputs.push_back(graph_.inputs[i]);
    }
    graph_.inputs = std::move(inputs);
  }

  /// The outputs' sum, mean, or mean of squares, in the widest of their dtypes.
  ValueId add_loss() {
    builder_.origin = {"loss", train_.loss_at, Phase::forward, {}};
    DType dtype = graph_.value(forward_.front()).type.dtype;
    for (const ValueId id : forward_) {
      if (graph_.value(id).type.dtype != dtype) dtype = DType::f32;
    }
    ValueId total = ValueId::none;
    for (const ValueId id : forward_) {
      const ValueId terms = loss_kind_.is_squared ? builder_.emit(Op::square, {id}) : id;
      std::vector<std::int64_t> dims(graph_.value(id).type.shape.size());
      std::iota(dims.begin(), dims.end(), 0);
      ValueId sum = builder_.emit(Op::reduce_sum, {terms}, Attributes{{"dims", dims}});
      if (graph_.value(sum).type.dtype != dtype) {
        sum =
            builder_.emit(Op::convert, {sum}, Attributes{{"dtype", std::string(info(dtype).name)}});
      }
      total = total == ValueId::none ? sum : builder_.emit(Op::add, {total, sum});
    }
    if (loss_kind_.is_mean) {
      const double share = 1.0 / static_cast<double>(elements_of(graph_, forward_));
      total = builder_.emit(Op::scale, {total}, Attributes{{"value", share}});
    }
    graph_.values[index_of(total)].name = "loss";
    return total;
  }

  std::vector<ValueId> add_gradients(ValueId loss) {
    std::vector<ValueId> wrt;
    for (std::size_t i = 1; i <= parameters_; ++i) wrt.push_back(graph_.inputs[i].value);
    std::vector<ValueId> gradients = differentiate(graph_, loss, wrt);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      std::string& name = graph_.values[index_of(gradients[i])].name;
      if (name.empty()) name = gradient_path(i);
    }
    return gradients;
  }

  std::string gradient_path(std::size_t parameter) const {
    const StatePaths& paths = state_paths_of(config_.naming, "params/");
    return "grads/" + std::string(tail_of(model_.state[1 + parameter].path, paths));
  }

  /// The next value of every state leaf.
  std::vector<ValueId> add_updates(const std::vector<ValueId>& gradients) {
    std::vector<ValueId> next(model_.state.size(), ValueId::none);
    const std::size_t first_slot = 1 + parameters_ + (optimizer_.counts ? 1 : 0);
    next[0] = counted_up(0);
    if (optimizer_.counts) next[first_slot - 1] = counted_up(first_slot - 1);
    for (std::size_t i = 0; i < parameters_; ++i) {
      stamp(1 + i);
      std::vector<std::size_t> leaves{1 + i};
      for (std::size_t slot = 0; slot < optimizer_.slots.size(); ++slot) {
        leaves.push_back(first_slot + slot * parameters_ + i);
      }
      std::vector<ValueId> operands;
      for (const std::size_t leaf : leaves) operands.push_back(graph_.inputs[leaf].value);
      operands.push_back(gradients[i]);
      if (optimizer_.counts) operands.push_back(next[first_slot - 1]);
      const std::vector<ValueId> results =
          builder_.emit_all(optimizer_.update, operands, attributes_);
      for (std::size_t j = 0; j < leaves.size(); ++j) next[leaves[j]] = results[j];
    }
    return next;
  }

  void stamp(std::size_t leaf) {
    const StateLeaf& state = model_.state[leaf];
    builder_.origin = {state.path, train_.optimizer.at, Phase::update, state.iteration};
  }

  ValueId counted_up(std::size_t leaf) {
    stamp(leaf);
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
      if (name != "loss") model_.dropped.push_back(std::move(name));
    }
    model_.train_step = std::move(graph_);
  }

  Model& model_;
  const ModelConfig& config_;
  const TrainConfig& train_;
  const LossKind& loss_kind_;
  const OptimizerKind& optimizer_;
  Attributes attributes_;
  Graph graph_;
  GraphBuilder builder_;
  std::vector<ValueId> forward_;
  std::size_t parameters_ = 0;
};

}  // namespace

void add_train_step(Model& model, const ModelConfig& config, Diagnostics& diagnostics) {
  SHARD_CHECK(config.train.has_value(), "a train step is asked for");
  const LossKind* loss = loss_kind(*config.train, diagnostics);
  const OptimizerKind* optimizer = optimizer_kind(config.train->optimizer, diagnostics);
  Attributes attributes;
  if (optimizer != nullptr) {
    attributes = update_attributes(*optimizer, config.train->optimizer, diagnostics);
  }
  const bool is_good = is_trainable(model, *config.train, diagnostics);
  if (loss == nullptr || optimizer == nullptr || !is_good) return;
  TrainStepBuilder(model, config, *loss, *optimizer, std::move(attributes)).build();
}

}  // namespace shard
