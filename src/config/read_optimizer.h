#pragma once
// Optimizers of programs and of lists of arrays.

#include <optional>

#include "config/model_config.h"
#include "text/tree.h"

namespace shard {

/// `adamw`, `adamw: 3e-4`, `adam: {learning_rate: schedule, mu_dtype: bf16}`,
/// `chain: [clip_by_global_norm: 1.0, adamw]`, `multi_steps: {optimizer: adam, every: 2}`. Every
/// argument may be left out. Raises `unknown-optimizer`, `wrong-type` and those of a map of keys.
std::optional<OptimizerConfig> read_optimizer(const TextNode& node, Diagnostics& diagnostics);

/// What a program needs to know of an optimizer and its parts beside their state: rates, sizes,
/// factors. Raises `missing-key`, `bad-schedule` (the bare word schedule).
void check_can_run(const OptimizerConfig& optimizer, Diagnostics& diagnostics);

}  // namespace shard
