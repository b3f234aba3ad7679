#pragma once
// What an optimizer does to a train state, as nodes of the step: its transformations one after the
// other over the gradients, then the parameters. Formulas are those of optax. Where the last
// transformations are those of sgd, momentum, adam or adamw, one update op stands for them.

#include <vector>

#include "model/graph_builder.h"
#include "model/optimizer_state.h"

namespace shard {

/// The arrays an optimizer works on.
struct UpdateRequest {
  const OptimizerState& state;
  std::span<const StateLeaf> parameters;
  std::vector<ValueId> values;     ///< of the parameters now
  std::vector<ValueId> gradients;  ///< one per parameter
  std::vector<ValueId> slots;      ///< of the optimizer's leaves now
  Location at;
};

struct Updated {
  std::vector<ValueId> values;
  std::vector<ValueId> slots;
};

/// Adds the nodes where the builder stands, in the phase `update`.
Updated add_updates(GraphBuilder& builder, const UpdateRequest& request);

}  // namespace shard
