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
  int first = 0;  ///< position of the first parameter in the state
  /// Of real parameters' slots; nothing: the parameters', as optax does.
  std::optional<DType> dtype{};
  ReducedAxes reduced = ReducedAxes::kept_dims;
};

/// The two largest dims of a parameter whose squares are kept by rows and columns.
struct FactoredDims {
  std::size_t second = 0;
  std::size_t largest = 0;
};

/// Nothing when the optimizer keeps all squares of a parameter of this shape.
std::optional<FactoredDims> factored_dims(const Shape& shape, const OptimizerConfig& optimizer);

/// Where a transformation keeps something.
struct SlotPlace {
  std::string_view name;  ///< `mu`, `count`
  std::size_t first = 0;  ///< among the optimizer's leaves
  bool is_tree = false;   ///< a leaf per parameter follows
};

/// One transformation of an optimizer's chain, in the order in which they are applied.
struct TransformationUse {
  std::string_view word;                       ///< `scale_by_adam`
  const OptimizerConfig* optimizer = nullptr;  ///< whose arguments it takes
  std::vector<SlotPlace> slots{};
  std::vector<TransformationUse> inner{};  ///< of `multi_steps`

  /// Nothing when the transformation keeps no such thing.
  const SlotPlace* slot(std::string_view name) const;
};

struct OptimizerState {
  std::vector<StateLeaf> leaves;
  std::vector<TransformationUse> transformations;  ///< they point into the `optimizer` given
};

/// The optimizer's state over these parameters. The kind must be one of `optimizer_tables`.
OptimizerState optimizer_state(const OptimizerConfig& optimizer,
                               std::span<const StateLeaf> parameters, const StateRequest& request);

/// Step, parameters and optimizer as a TrainState flattens; as NNX flattens (sorted by path) when
/// the paths are NNX's. `follows` of the leaves is set right.
std::vector<StateLeaf> train_state(std::vector<StateLeaf> parameters,
                                   const OptimizerConfig& optimizer, Naming naming,
                                   ReducedAxes reduced = ReducedAxes::kept_dims);

/// The step counter alone.
StateLeaf step_leaf(const StatePaths& paths, const Location& at);

}  // namespace shard
