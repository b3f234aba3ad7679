#pragma once
// Running one function of a plan: compared with the unsharded reference, timed, counted.

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/run_arrays.h"
#include "report/run_report.h"

namespace shard {

/// What a run of one function leaves: its figures, and its results after the compared steps.
struct FunctionOutcome {
  FunctionRun run;
  std::vector<NamedTensor> state;    ///< by path; empty when the function returns no state
  std::vector<NamedTensor> results;  ///< the other results by path
};

/// Runs `compared_steps` steps on `cluster`, which has the function's program (0: none is
/// compared), compares, then times and counts as `options` say. Throws what `Cluster` throws.
FunctionOutcome run_function(Cluster& cluster, const PlannedFunction& function,
                             const std::string& title, const RunArrays& arrays, int compared_steps,
                             const Options& options, Progress& progress);

}  // namespace shard
