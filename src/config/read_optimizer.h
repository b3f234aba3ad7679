#pragma once
// Optimizers of which only the state is asked for.

#include <optional>

#include "config/model_config.h"
#include "text/tree.h"

namespace shard {

/// `adamw`, `adamw: 3e-4`, `adam: {learning_rate: schedule, mu_dtype: bf16}`,
/// `chain: [clip_by_global_norm: 1.0, adamw]`, `multi_steps: {optimizer: adam, every: 2}`. Every
/// argument may be left out. Raises `unknown-optimizer`, `wrong-type` and those of a map of keys.
std::optional<OptimizerConfig> read_state_optimizer(const TextNode& node, Diagnostics& diagnostics);

}  // namespace shard
