#pragma once
// A model of a list of arrays: leaves of a state and no program.

#include "config/arrays_config.h"
#include "model/model.h"

namespace shard {

/// The arrays as the model's state, in their order, and the state of the optimizer that is asked
/// for. Axes come from the first glob of `axes` that matches, else from the array itself; a leaf
/// that is derived has its parameter's, unless a glob matches it that is not its parameter's.
/// Element types that nobody gives are f32, sizes that nobody gives stay unknown.
///
/// Notes: `glob-unmatched` (a warning), `dtype-assumed`, `shape-unknown`, `reduced-axes`. Throws
/// `Error`: `no-arrays`, `conflicting-keys` (an optimizer is asked for and its state is listed),
/// `size-overflow`.
Model build_arrays_model(const ArraysConfig& config);

}  // namespace shard
