#pragma once
// What is made of the outputs: the scalar that is differentiated.

#include "model/lowering.h"

namespace shard {

struct LossTerms {
  const std::vector<ValueId>& outputs;
  const std::vector<ValueId>& added;  ///< scalars that layers add to it
};

/// Adds the loss of `train` over these outputs where the builder stands, in the widest of their
/// dtypes (cross entropy: in f32), . None after an error: `missing-loss`,
/// `unknown-loss`, `missing-key` (no targets), `unknown-value` (no such input), `dtype-mismatch`,
/// `shape-mismatch`, `wrong-input-count` (logits of several outputs).
ValueId add_loss(Graph& graph, const LossTerms& terms, const ModelConfig& config,
                 Diagnostics& diagnostics);

/// What a part of a batch counts in the whole: one for a loss that is a sum, else its share.
double share_of_part(const TrainConfig& train);

}  // namespace shard
