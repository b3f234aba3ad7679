#pragma once
// What to tell somebody whose array does not divide: legal sizes, padding, legal numbers of parts,
// another dim that would do.

#include <span>
#include <string>

#include "base/tensor_type.h"
#include "mesh/mesh.h"
#include "shard/axes.h"
#include "shard/sharding.h"

namespace shard {

/// `1 or 2`: numbers of parts near `parts` that divide `size`, at most three up to it and one
/// beyond.
std::string dividing_parts(std::int64_t size, std::int64_t parts);

/// For `dim` of an array that `axes` do not divide; `sharding` is how the other dims are split,
/// `names` how dims are called. For kv_heads of bf16[2048,2,128] over tensor 4: `nearest legal
/// sizes: 4 (padding 2); 2 divides into 1 or 2; dim 0 (embed) divides: P('tensor', None, None),
/// 262,144 B per device, without 1,048,576 B; dim 2 (head_dim) too`.
std::string misfit_hint(const Mesh& mesh, const TensorType& type, const Sharding& sharding,
                        std::size_t dim, const Axes& axes, std::span<const std::string> names);

}  // namespace shard
