#pragma once
// From the user's files to a finished plan, stage by stage.

#include "cli/options.h"
#include "report/plan.h"
#include "text/files.h"

namespace shard {

/// Reads the model and the rules that `options` names and plans both functions of the model.
/// Throws `Error` with everything that is wrong in the first stage that finds anything. With `fold`
/// equal iterations of a repeat are planned once, which is not enough to run the plan.
Plan make_plan(const Options& options, Sources& sources, bool fold);

/// Whether a report may be about folded iterations: not where every array and stage is asked for.
bool may_fold(const Options& options);

/// The paths of the two files the user named, looked for here and among the shipped ones.
struct PlanFiles {
  std::string model;
  std::string rules;
};
PlanFiles find_plan_files(const Options& options);

}  // namespace shard
