#pragma once
// JSON texts that several answers have in common, to be parsed and built on.

#include <string>
#include <vector>

#include "report/plan.h"
#include "report/rows.h"

namespace shard {

/// The keys that every answer about a plan begins with.
std::string plan_head_json(const std::string& command, const Plan& plan);
std::string array_rows_json(const std::vector<ArrayRow>& rows);

}  // namespace shard
