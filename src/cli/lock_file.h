#pragma once
// Layouts to sections of a lock file and back.

#include <string>

#include "check/layout_record.h"
#include "config/lock_config.h"

namespace shard {

/// What the lock file says of this layout: arrays that are alike on one line.
LockSection section_of(const LayoutRecord& record, const std::string& job, const std::string& mesh);

/// The section as a layout, its arrays decided by its lines. Throws `Error` `bad-lock` for a
/// collective of an unknown kind.
LayoutRecord record_of(const LockSection& section);

}  // namespace shard
