#pragma once
// A batch in parts, one after the other, whose gradients are averaged: the forward and backward
// pass of a small batch as the body of a loop.

#include "model/graph_builder.h"
#include "model/model.h"

namespace shard {

/// The model with its batch, the first dim of its inputs, cut into `train.microbatches` parts.
/// Nothing after `microbatches` (inputs without a common batch, a size that does not divide).
std::optional<ModelConfig> with_small_batch(const ModelConfig& config, Diagnostics& diagnostics);

/// What one pass gives.
struct PassValues {
  ValueId loss = ValueId::none;
  std::vector<ValueId> gradients;
  std::vector<ValueId> outputs;
  ValueId step = ValueId::none;  ///< the input that random bits depend on, if any do
};

/// Moves all nodes of the body into a loop over `times` parts of the batch. `graph.inputs` get the
/// whole batch; the gradients and the loss returned are the sums over the parts times `share`, the
/// outputs those of the whole batch.
PassValues looped_over_parts(GraphBuilder& builder, const PassValues& pass, std::int64_t times,
                             double share);

}  // namespace shard
