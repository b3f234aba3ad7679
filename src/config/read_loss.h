#pragma once
// The loss of a train step.

#include "config/model_config.h"

namespace shard {

/// `sum`, `cross_entropy: labels`, `cross_entropy: {targets: shift(tokens)}` into `train`. Raises
/// `unknown-loss`, `bad-targets` and what a key table raises.
void read_loss(const TextNode& node, TrainConfig& train, Diagnostics& diagnostics);

}  // namespace shard
