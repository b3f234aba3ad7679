#pragma once
// The functions of a model, each sharded and partitioned; with folded repeats where that is safe.

#include <optional>
#include <span>
#include <vector>

#include "cli/stages.h"
#include "config/arrays_config.h"
#include "config/model_config.h"
#include "report/plan.h"
#include "spmd/fuse.h"

namespace shard {

/// Fills the plan's model and functions for its mesh. With `fold` equal iterations of an unrolled
/// repeat are planned once, if planning them shows that they are equal; else, and without `fold`,
/// each by itself. The figures are the same either way. Stages are dumped of what is written out.
/// With `fusion` the programs are the fused ones; what is said about collectives does not depend on
/// it.
void plan_functions(Plan& plan, const ModelConfig& config, const RulesConfig& rules, bool fold,
                    Fusion fusion, const StageDump& dump);

/// A function with folded repeats, and with each of them widened. Nothing when its iterations are
/// not equal after all.
std::optional<PlannedFunction> plan_folded(Graph folded, std::vector<Graph> widened,
                                           std::span<const Iteration> folds,
                                           const RulesConfig& rules, const Mesh& mesh,
                                           Fusion fusion);

/// Fills the plan of a list of arrays: `apply` has their shardings, and there is no program.
void plan_arrays(Plan& plan, const ArraysConfig& config, const RulesConfig& rules,
                 const StageDump& dump);

/// What the state of a function takes on one device.
Bytes state_bytes(const PlannedFunction& function);

}  // namespace shard
