#pragma once
// What a job file asks of layouts.

#include "config/jobs_config.h"
#include "text/tree.h"

namespace shard {

/// Reads the map of a `policy` key. Raises `unknown-key`, `wrong-type`, `unknown-word`,
/// `bad-value`, `spec-syntax`.
PolicyConfig read_policy(const TextNode& node, Diagnostics& diagnostics);

}  // namespace shard
