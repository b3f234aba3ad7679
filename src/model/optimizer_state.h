#pragma once
// The state that an optimizer keeps, leaf by leaf as optax's tree flattens: counts, trees that
// mirror the parameters, rows and columns of factored squares. Two tables say it all: what each
// transformation keeps, and which transformations an optimizer is a chain of.
//
// adamw is scale_by_adam, add_decayed_weights, scale_by_learning_rate; only the first keeps
// anything (and the last a count, when the rate is a schedule):
//   opt_state/0/count  i32[]        opt_state/0/mu/Dense_0/kernel  as the parameter
//   opt_state/2/count  i32[]        opt_state/0/nu/Dense_0/kernel  as the parameter

#include <optional>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/state_paths.h"

namespace shard {

/// A factored square has fewer dims than its parameter.
enum class ReducedAxes {
  kept_dims,  ///< the axes of the dims that are left
  as_flax,    ///< all axes of the parameter, as Flax boxes them; JAX then refuses the rank
};

struct StateRequest {
  const StatePaths& paths;
  int first = 0;                 ///< position of the first parameter in the state
  std::optional<DType> dtype{};  ///< of the slots; nothing: the parameters', as optax does
  ReducedAxes reduced = ReducedAxes::kept_dims;
};

/// The leaves of the optimizer's state over these parameters. The kind must be one of
/// `state_optimizer_tables`.
std::vector<StateLeaf> optimizer_state(const OptimizerConfig& optimizer,
                                       std::span<const StateLeaf> parameters,
                                       const StateRequest& request);

/// Step, parameters and optimizer as a TrainState flattens; as NNX flattens (sorted by path) when
/// the paths are NNX's. `follows` of the leaves is set right.
std::vector<StateLeaf> train_state(std::vector<StateLeaf> parameters,
                                   const OptimizerConfig& optimizer, Naming naming,
                                   ReducedAxes reduced = ReducedAxes::kept_dims);

/// The step counter alone.
StateLeaf step_leaf(const StatePaths& paths, const Location& at);

}  // namespace shard
