#pragma once
// The plans that `--by-rule` shows.

#include <vector>

#include "cli/pipeline.h"
#include "report/by_rule.h"

namespace shard {

/// Without rules, then with one rule more each time, as they are numbered: the general ones, then
/// those of each part. Placement by path and the mesh are there from the start; a name that only a
/// later rule knows leaves its dim whole. `full` is the plan with all of them.
std::vector<RuleStep> rule_steps(const ModelInput& model, const Plan& full, const Options& options);

}  // namespace shard
