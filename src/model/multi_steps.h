#pragma once
// Gradients of several steps averaged before an optimizer sees them.

#include "model/transformation.h"

namespace shard {

/// Every `every` steps the inner transformations work on the mean of the gradients since; in the
/// others nothing moves but that mean. Source: optax/transforms/_accumulation.py, MultiSteps.
void apply_multi_steps(UpdateWalk& walk, const TransformationUse& use);

}  // namespace shard
