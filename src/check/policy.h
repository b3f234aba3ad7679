#pragma once
// What a job file asks of a layout, whatever a lock file says.

#include <string>
#include <vector>

#include "check/layout_record.h"
#include "config/jobs_config.h"

namespace shard {

/// A demand that a layout does not meet, or of which that cannot be told.
struct Breach {
  std::string rule;     ///< the policy's key, or the id of a finding
  Location at;          ///< of the demand; of a finding: what causes it
  std::string message;  ///< what is found and what was asked for
  std::string fix;      ///< may be empty
};

/// All of them, in order of the policy's keys. Throws `Error` `unknown-device` for a `fits` that is
/// no chip and no bytes, and what `apply_levels` throws.
std::vector<Breach> breaches_of(const LayoutRecord& record, const PolicyConfig& policy);

}  // namespace shard
