#include "model/loss.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/nearest.h"
#include "model/composer.h"

namespace shard {
namespace {

/// What a loss works on.
struct LossCall {
  Composer compose;
  Graph& graph;
  const std::vector<ValueId>& outputs;
  const ModelConfig& config;
  Diagnostics& diagnostics;

  const TrainConfig& train() const { return *config.train; }
};

std::vector<std::int64_t> all_dims(const TensorType& type) {
  std::vector<std::int64_t> dims(type.shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// Of the outputs or of their squares.
ValueId sum_of(LossCall& call, bool is_squared) {
  DType dtype = call.compose.type(call.outputs.front()).dtype;
  for (const ValueId id : call.outputs) {
    if (call.compose.type(id).dtype != dtype) dtype = DType::f32;
  }
  ValueId total = ValueId::none;
  for (const ValueId id : call.outputs) {
    const ValueId terms = is_squared ? call.compose.one(Op::square, id) : id;
    const ValueId sum = call.compose.converted(
        call.compose.reduced(Op::reduce_sum, terms, all_dims(call.compose.type(id))), dtype);
    total = total == ValueId::none ? sum : call.compose.two(Op::add, total, sum);
  }
  return total;
}

ValueId mean_of(LossCall& call, bool is_squared) {
  std::int64_t count = 0;
  for (const ValueId id : call.outputs) count += element_count(call.compose.type(id).shape);
  return call.compose.times(sum_of(call, is_squared), 1.0 / static_cast<double>(count));
}

ValueId sum_loss(LossCall& call) { return sum_of(call, false); }
ValueId mean_loss(LossCall& call) { return mean_of(call, false); }
ValueId square_loss(LossCall& call) { return mean_of(call, true); }

/// The input that `targets` names, if it is there and holds integers.
ValueId targets_of(LossCall& call) {
  if (!call.train().targets) {
    call.diagnostics.error("missing-key", call.train().loss_at,
                           "loss 'cross_entropy' needs targets",
                           "write cross_entropy: {targets: shift(tokens)}, or an input's name");
    return ValueId::none;
  }
  const TargetsConfig& targets = *call.train().targets;
  std::vector<std::string> known;
  for (const GraphInput& input : call.graph.inputs) {
    if (input.role != Role::input) continue;
    known.push_back(input.path);
    if (input.path != targets.input) continue;
    const TensorType& type = call.compose.type(input.value);
    if (type.dtype == DType::i32) return input.value;
    call.diagnostics.error("dtype-mismatch", targets.at,
                           "targets are integers, '" + targets.input + "' is " + to_string(type),
                           "declare it as i32[...]");
    return ValueId::none;
  }
  call.diagnostics.error("unknown-value", targets.at,
                         "there is no input '" + targets.input + "' for the targets",
                         did_you_mean(targets.input, known, "inputs"));
  return ValueId::none;
}

/// Each position's target is the next one's; the last position has none.
ValueId shifted_targets(LossCall& call, ValueId tokens) {
  Composer& compose = call.compose;
  const std::vector<std::string> labels = compose.labels(tokens);
  std::vector<std::int64_t> low(labels.size(), 0), high(labels.size(), 0);
  low.back() = -1;
  high.back() = 1;
  // Padding by minus one in front cuts the first token off.
  const ValueId shifted = compose.padded(tokens, -1, low, high);
  compose.set_labels(shifted, labels);
  return shifted;
}

bool logits_fit(LossCall& call, const TensorType& logits, const TensorType& targets) {
  const Shape wanted(logits.shape.begin(), logits.shape.end() - (logits.shape.empty() ? 0 : 1));
  if (!logits.shape.empty() && wanted == targets.shape) return true;
  call.diagnostics.error("shape-mismatch", call.train().targets->at,
                         "the output is " + to_string(logits) + ", the targets are " +
                             to_string(targets) +
                             ": they must have all dims of the output but the last");
  return false;
}

/// log(sum(exp(logits))) - logits[target], averaged over the positions that count.
ValueId cross_entropy_loss(LossCall& call) {
  Composer& compose = call.compose;
  if (call.outputs.size() != 1) {
    call.diagnostics.error(
        "wrong-input-count", call.train().loss_at,
        "loss 'cross_entropy' takes one output, found " + std::to_string(call.outputs.size()),
        "declare the logits as the only output");
    return ValueId::none;
  }
  ValueId targets = targets_of(call);
  if (targets == ValueId::none) return targets;
  const TensorType type = compose.type(call.outputs.front());
  if (!logits_fit(call, type, compose.type(targets))) return ValueId::none;
  if (call.train().targets->is_shifted) targets = shifted_targets(call, targets);

  const int classes = type.rank() - 1;
  const ValueId logits =
      compose.shifted_down(compose.converted(call.outputs.front(), DType::f32), {classes});
  const ValueId sums = compose.reduced(Op::reduce_sum, compose.one(Op::exp, logits), {classes});
  const ValueId is_target = compose.two(Op::eq, {compose.iota(type.shape, classes, DType::i32),
                                                 compose.spread(targets, type.shape, {classes})});
  const ValueId chosen = compose.where(is_target, logits, 0);
  const ValueId picked = compose.reduced(Op::reduce_sum, chosen, {classes});
  const ValueId each = compose.two(Op::subtract, compose.one(Op::log, sums), picked);
  const std::vector<std::int64_t> dims = all_dims(compose.type(each));
  const bool may_skip = call.train().ignores_negative || call.train().targets->is_shifted;
  if (!may_skip) return compose.mean(each, dims);
  const ValueId counts = compose.two(Op::ge, targets, compose.number(0, DType::i32));
  const ValueId total = compose.reduced(Op::reduce_sum, compose.where(counts, each, 0), dims);
  const ValueId number =
      compose.reduced(Op::reduce_sum, compose.converted(counts, DType::f32), dims);
  return compose.two(Op::divide, total, number);
}

struct LossRow {
  std::string_view word;
  ValueId (*add)(LossCall& call);
};

constexpr std::array<LossRow, 4> loss_rows = {{
    {"sum", sum_loss},
    {"mean", mean_loss},
    {"mse", square_loss},
    {"cross_entropy", cross_entropy_loss},
}};

/// The row, or nullptr after `missing-loss` or `unknown-loss`.
const LossRow* loss_row(const TrainConfig& train, Diagnostics& diagnostics) {
  if (train.loss.empty()) {
    diagnostics.error("missing-loss", train.at, "the train step needs a loss", "write loss: sum");
    return nullptr;
  }
  std::vector<std::string> known;
  for (const LossRow& row : loss_rows) {
    if (row.word == train.loss) return &row;
    known.emplace_back(row.word);
  }
  diagnostics.error("unknown-loss", train.loss_at, "there is no loss '" + train.loss + "'",
                    did_you_mean(train.loss, known));
  return nullptr;
}

}  // namespace

ValueId add_loss(Graph& graph, const LossTerms& terms, const ModelConfig& config,
                 Diagnostics& diagnostics) {
  const LossRow* row = loss_row(*config.train, diagnostics);
  if (row == nullptr) return ValueId::none;
  GraphBuilder builder(graph);
  builder.origin = {"loss", config.train->loss_at, Phase::forward, {}};
  LossCall call{Composer(builder), graph, terms.outputs, config, diagnostics};
  ValueId loss = row->add(call);
  for (const ValueId term : terms.added) {
    if (loss == ValueId::none) break;
    const DType dtype = call.compose.type(loss).dtype;
    loss = call.compose.two(Op::add, loss, call.compose.converted(term, dtype));
  }
  return loss;
}

double share_of_part(const TrainConfig& train) {
  return train.loss == "sum" ? 1 : 1 / static_cast<double>(train.microbatches);
}

}  // namespace shard
