#pragma once
// An op on many arrays at once: what its attributes become when every operand gets further leading
// dims and the op works for each of their positions alone (JAX's vmap).

#include <optional>

#include "ops/op.h"

namespace shard {

/// The attributes with leading dims of these sizes on every operand, those of rank 0 included but
/// for numbers of elementwise ops and the value of a pad, which may stay as they are. Nothing where
/// the op has no such form.
std::optional<Attributes> batched_attributes(Op op, const Attributes& attributes,
                                             const Shape& lead);

}  // namespace shard
