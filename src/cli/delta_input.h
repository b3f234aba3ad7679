#pragma once
// The plan that an edited one is held against.

#include <optional>

#include "cli/options.h"
#include "report/delta.h"
#include "report/plan.h"
#include "text/files.h"

namespace shard {

/// Nothing unless the user edits rules on the command line or asks with --delta. Rule edits alone
/// are held against the same mesh, sizes and settings; --delta against the files as they are.
std::optional<Delta> delta_of(const Plan& plan, const Options& options, Sources& sources);

}  // namespace shard
