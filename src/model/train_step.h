#pragma once
// The train step: forward as in `apply`, loss, gradients, updates, the outputs asked for.

#include "model/model.h"

namespace shard {

/// Fills `model.state` (step, parameters, optimizer), `model.train_step`, `returns` and `dropped`
/// from `model.apply` and its parameters. Errors: `missing-loss`, `unknown-loss`, `not-yet`,
/// `dtype-mismatch`, those of the optimizer.
void add_train_step(Model& model, const ModelConfig& config, Diagnostics& diagnostics);

}  // namespace shard
