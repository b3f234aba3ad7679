#pragma once
// A model: the leaves of its train state, the inference function and the train step.

#include <optional>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "model/graph.h"

namespace shard {

/// How a leaf is initialised. For `xavier_normal` and the like the fans are those of the
/// *unstacked* parameter, worked out when the model is built.
struct InitialValue {
  std::string kind;  ///< `zeros`, `ones`, `constant`, `normal`, `truncated_normal`, `uniform`
  double scale = 0;  ///< standard deviation (before truncation correction: see exec/initial.h),
                     ///< half width, or the constant
};

/// One leaf of the train state, in TrainState order: step, params (sorted as Flax sorts),
/// opt_state.
struct StateLeaf {
  std::string
      path;  ///< `step`, `params/DotReluDot_0/Dense_0/kernel`, `opt_state/0/mu/DotReluDot_0/W2`
  Role role = Role::parameter;  ///< parameter, optimizer or step
  TensorType type;
  std::vector<std::string> labels;
  SpecConfig placement;
  InitialValue init;
  int follows = -1;  ///< leaf of the parameter that an optimizer slot mirrors
  Iteration iteration;
  Location at;
};

struct Model {
  std::string name;
  std::vector<StateLeaf> state;
  Graph apply;  ///< inputs: the parameters, then the data inputs
  std::optional<Graph>
      train_step;  ///< inputs: all of `state`, then the data inputs; dead code removed
  std::int64_t parameter_count = 0;
  std::vector<std::string> returns;  ///< of the train step: `state`, `loss`, ...
  std::vector<std::string>
      dropped;  ///< what dead-code removal took out, one name each, for the report
};

/// Builds both functions. Throws `Error` with every mistake found: `unknown-layer`,
/// `undefined-value`, `rank-mismatch`, `shape-mismatch`, `recursive-block`, `duplicate-name`,
/// `unknown-dim`, `size-overflow`, `not-yet` (a key or layer of the grammar that a later version
/// handles) ...
Model build_model(const ModelConfig& config);

/// Reverse-mode derivative of `graph.outputs[output]` (a scalar) with respect to the inputs at
/// `wrt`: appends the backward nodes and returns one gradient value per entry of `wrt`.
std::vector<ValueId> differentiate(Graph& graph, ValueId scalar, const std::vector<ValueId>& wrt);

/// Removes nodes (and loop results) that no output needs. Returns the names of the layers removed.
std::vector<std::string> remove_dead_code(Graph& graph);

}  // namespace shard
