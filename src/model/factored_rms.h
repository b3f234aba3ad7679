#pragma once
// Squares by rows and columns (adafactor).

#include "model/transformation.h"

namespace shard {

/// Divides updates by the root of squares that are kept factored where the state has rows and
/// columns. Source: optax/_src/factorized.py, scale_by_factored_rms.
void scale_by_factored_rms(UpdateWalk& walk, const TransformationUse& use);

}  // namespace shard
