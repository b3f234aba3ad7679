#pragma once
// What the options say of how a program runs on virtual devices: of its workers and collectives.

#include <cstdint>

#include "cli/options.h"
#include "exec/cluster.h"

namespace shard {

/// As many workers as are asked for, but no more than have something to do with `devices` devices
/// in this process; tells on stderr when that is fewer. 0 where none are asked for.
int useful_workers(const Options& options, std::int64_t devices);

/// What is asked for within one process. Throws `Error` `usage` for hosts that the chosen algorithm
/// does not tell apart.
CollectiveChoice own_collectives(const Options& options);

/// Both, and nothing else.
ClusterOptions cluster_choice(const Options& options, std::int64_t devices);

}  // namespace shard
