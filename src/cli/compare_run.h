#pragma once
// Step times of several plans of one model, measured so that they can be compared.

#include <vector>

#include "cli/options.h"
#include "exec/measure.h"
#include "report/plan.h"

namespace shard {

/// Runs the main function of every plan, the plans in turns, so that what else the machine does
/// falls on all of them alike: one timed run of each, then the next of each. Throws what `Cluster`
/// throws, and `no-program` for a list of arrays.
std::vector<Timing> time_alternating(const std::vector<Plan>& plans, const Options& options);

/// Several timings of one run each as one of several runs.
Timing joined(const std::vector<Timing>& runs);

}  // namespace shard
