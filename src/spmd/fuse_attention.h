#pragma once
// Attention as one instruction, and its gradient as another.
//
// The scores of s queries and t keys are s times t numbers per head: for long sequences more than
// all other arrays together. Only the product before and those behind the softmax need them, a row
// at a time: fused (see spmd/fused_form.h), some rows of them are in a worker's scratch memory and
// no array of them is ever there. The gradient needs them again: it makes them once more from the
// queries and keys, which it needs anyway, instead of keeping them from the forward pass. So the
// loops that go back over a repeat's iterations keep less, too.

#include "spmd/program.h"

namespace shard::spmd {

/// Fuses what lies between a product that makes scores and those that sum up what a softmax made of
/// them, whatever is done to each score on the way (scaled, masked, rounded). Where something else
/// wants the scores or weights themselves, or has them split between devices, all stays as it is;
/// so do scores so few that they stay in the cache, and an attention of fewer than 1024 keys whose
/// gradient would have to make them once more. Says whether there is any: then results have no
/// places yet.
bool fuse_attention(Program& program);

}  // namespace shard::spmd
