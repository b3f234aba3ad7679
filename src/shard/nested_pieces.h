#pragma once
// Pieces of dims that do not divide, as PyTorch's DTensor cuts them.
//
// JAX cuts a dim once, into as many pieces as all its axes make (`piece_at`); DTensor cuts it by
// one axis after the other, each piece again by itself. Where everything divides the two are the
// same.
//
//   5 rows over a 2, b 2   flat: 2 2 1 0 from 0 2 4 5   nested: (2 1)(1 1) from 0 2 3 4

#include <vector>

#include "shard/axes.h"
#include "shard/pieces.h"

namespace shard {

/// The range of one part of a dim, numbered row-major over its axes.
PieceRange nested_range(std::int64_t size, const Axes& axes, std::int64_t part);

/// The range of every dim on the device at `position`; pieces that come late are short or empty.
/// Every cut makes pieces of the size rounded up. The sharding must leave nothing unreduced.
std::vector<PieceRange> nested_piece_at(const Mesh& mesh, const Sharding& sharding,
                                        const Shape& shape, std::int64_t position);

/// The largest piece: what every device makes room for. At least as large as the flat one.
Shape nested_local_shape(const Shape& shape, const Sharding& sharding);

}  // namespace shard
