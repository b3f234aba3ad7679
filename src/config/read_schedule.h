#pragma once
// Learning rates that change with the step.

#include "config/model_config.h"

namespace shard {

/// `warmup_cosine_decay: {peak_value: 3e-4, ...}`. Raises `unknown-schedule`, `schedule-order`
/// (steps that do not grow, lists that do not fit), `bad-schedule` (no steps at all) and what a key
/// table raises.
std::optional<ScheduleConfig> read_schedule(const TextNode& node, Diagnostics& diagnostics);

}  // namespace shard
