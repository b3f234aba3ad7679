#pragma once
// The function's boundary: what a caller hands over and is handed.

#include "base/tensor_type.h"
#include "shard/sharding.h"

namespace shard {

/// An argument's or result's sharding from that of the value inside (spec section 6.9, end): every
/// dim keeps the leading axes (the last one maybe in part) that divide it evenly, open dims lose
/// everything from the first sub-axis on, which a spec cannot express; all dims are closed.
Sharding at_boundary(const Mesh& mesh, Sharding sharding, const Shape& shape);

}  // namespace shard
