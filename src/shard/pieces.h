#pragma once
// Which piece of an array each device holds (spec section 2.6). Positions are row-major on the
// mesh; `Mesh::device_id` gives the device there.

#include <vector>

#include "base/tensor_type.h"
#include "shard/sharding.h"

namespace shard {

/// A piece's range in one dim. A dim that is not split is reported whole, as JAX does with
/// `slice(None)`.
struct PieceRange {
  std::int64_t start = 0;
  std::int64_t stop = 0;
  bool is_whole = false;

  friend bool operator==(const PieceRange&, const PieceRange&) = default;
};

/// Where a dim that does not divide is cut: at once into as many pieces as all its axes make, as
/// JAX does (`piece_at`), or by one axis after the other, as DTensor does (`nested_piece_at`).
enum class UnevenCut { flat, nested };

/// False for a value that is an unreduced sum: each device holds a term of it, not a piece.
bool has_pieces(const Sharding& sharding);

/// The range of every dim on the device at `position`; the last ones are short or empty where the
/// dim does not divide evenly. The sharding must leave nothing unreduced.
std::vector<PieceRange> piece_at(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                                 std::int64_t position);

/// How many earlier devices hold the same piece: the row-major number of the device's coordinates
/// on the axes that do not tell pieces apart (those the sharding does not use, and those of an
/// empty dim). Bytes of distinct data are those of replica 0.
std::int64_t replica_id(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                        std::int64_t position);

/// Every device holds the whole value. For JAX a value with unreduced axes is none such, even if
/// they have size 1, but on one device.
bool is_fully_replicated(const Mesh& mesh, const Sharding& sharding);

}  // namespace shard
