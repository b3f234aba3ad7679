#pragma once
// The train step: forward as in `apply`, loss, gradients, updates, the outputs asked for.

#include "model/model.h"

namespace shard {

/// The forward function before dead code is removed, and what layers add to the loss.
struct TrainStart {
  Graph forward;
  std::vector<ValueId> losses;  ///< scalars
};

/// Fills `model.state` (step, parameters, optimizer), `model.train_step`, `returns` and `dropped`
/// from the forward function and the parameters. Errors: `dtype-mismatch`, those of `add_loss`.
void add_train_step(Model& model, const ModelConfig& config, TrainStart start,
                    Diagnostics& diagnostics);

}  // namespace shard
