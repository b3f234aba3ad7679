#pragma once
// The train step: forward as in `apply`, loss, gradients, updates, the outputs asked for.

#include "model/model.h"
#include "model/remat.h"

namespace shard {

/// The forward function before dead code is removed, and what layers add to the loss.
struct TrainStart {
  Graph forward;
  std::vector<ValueId> losses;  ///< scalars
  std::vector<RematRange> remats;
  ValueId step = ValueId::none;  ///< the step's number, where something in `forward` uses it
  bool is_of_training = true;    ///< false: with `BuildOptions::training` it would be another
};

/// Fills `model.state` (step, parameters, optimizer), `model.train_step`, `returns` and `dropped`
/// from the forward function and the parameters. Errors: `dtype-mismatch`, those of `add_loss`.
void add_train_step(Model& model, const ModelConfig& config, TrainStart start,
                    Diagnostics& diagnostics);

}  // namespace shard
