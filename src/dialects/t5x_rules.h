#pragma once
// The standard rules of T5X, which its gin files ask for by name.

#include <cstdint>
#include <vector>

#include "config/rules_config.h"

namespace shard {

/// `standard_logical_axis_rules` for 1 or 2 partitioned dims of activations and of parameters;
/// empty for other numbers. Every rule has the place `at`. Source: google-research/t5x,
/// t5x/partitioning.py.
std::vector<RuleConfig> standard_t5x_rules(std::int64_t activation_dims,
                                           std::int64_t parameter_dims, const Location& at);

}  // namespace shard
