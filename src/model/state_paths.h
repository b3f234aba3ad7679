#pragma once
// How the leaves of a train state are called.
//
//            parameter                      moment                               step
//   flax     params/Dense_0/kernel          opt_state/0/mu/Dense_0/kernel        step
//   jax      .params/['params']/['Dense_0'] .opt_state/[0]/.mu/['params']/...    .step
//   nnx      model/dot1/kernel              optimizer/opt_state/0/mu/dot1/kernel optimizer/step
//
// Parameters of checkpoints have none of these beginnings; their moments are called as Flax does.

#include <string>
#include <string_view>

#include "model/model.h"

namespace shard {

/// One way to name a train state.
struct StatePaths {
  std::string_view parameters;  ///< what their paths begin with, left out in those of the slots
  std::string_view optimizer;
  std::string_view step;
  std::string_view field;  ///< before the name of a field: `.` of `.mu`
  std::string_view open;   ///< around the position in a chain
  std::string_view close;
  DType step_dtype;
};

/// By how the parameters are called: `naming: nnx` for NNX, else by the beginning of the first.
const StatePaths& state_paths_of(Naming naming, std::string_view first_parameter);

/// The parameter's path without what all parameters begin with; its slots' paths end like that.
std::string_view tail_of(std::string_view parameter, const StatePaths& paths);

/// The part of a train state that an array belongs to, told from its path: `opt_state/...`,
/// `.opt_state/...`, `optimizer/...`, `step`; all else is a parameter.
Role role_of(std::string_view path);

/// Renames state, inputs and outputs: `.params/['params']/['Dense_0']` or `params/Dense_0`. Paths
/// of NNX are the same in both.
void restyle_paths(Model& model, PathStyle style);

}  // namespace shard
