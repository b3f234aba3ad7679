#pragma once
// What can be said about layers before any value exists: words, keys, blocks that call themselves.
// Each place in the file is looked at once, however often its block is used.

#include "base/diagnostic.h"
#include "config/model_config.h"

namespace shard {

/// Errors: `unknown-layer`, `unknown-block`, `not-yet`, `unknown-key`, `unknown-argument`,
/// `missing-key`, `recursive-block`, `reserved-name`, `duplicate-name`. False when blocks call each
/// other in a circle, so that building them would not end.
bool check_layers(const ModelConfig& config, Diagnostics& diagnostics);

}  // namespace shard
