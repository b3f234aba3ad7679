#pragma once
// What this machine can do, as `run --profile` measured it: kept in the user's cache folder.

#include <filesystem>
#include <optional>

#include "cli/progress.h"
#include "exec/limits.h"
#include "text/files.h"

namespace shard {

/// `$XDG_CACHE_HOME/shard-plan/limits.json`, or the same under `$HOME/.cache`; nothing when neither
/// is an absolute path.
std::optional<std::filesystem::path> limits_path();

/// Measures with that many workers and keeps the figures for later runs.
/// Throws `Error` (`no-cache-folder`, `unwritable-file`) before it measures.
MachineLimits profile_machine(int workers, Sources& sources, Progress& progress);

/// The same where other processes measure too, on this machine perhaps: nothing is kept.
MachineLimits profile_share(int workers, Progress& progress);

/// What an earlier `profile_machine` of as many workers kept; nothing when there was none. A file
/// that cannot be read is told of on stderr, no reason not to run.
std::optional<MachineLimits> known_limits(int workers, Sources& sources);

}  // namespace shard
