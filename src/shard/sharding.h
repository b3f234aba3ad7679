#pragma once
// How an array is split: per dimension an ordered list of mesh axes, plus the axes over which it is
// an unreduced sum. Never a list of devices, so 8 and 65,536 devices cost the same.
//
// On the mesh data 2 x model 4 the kernel [1024, 1024] with dims [{}, {model}] has four pieces of
// [1024, 256]; each is on two devices, because `data` is not used.

#include <string>
#include <vector>

#include "base/tensor_type.h"
#include "config/spec.h"
#include "mesh/mesh.h"

namespace shard {

/// Axes of one dim, major to minor. An open dim may still gain axes at the minor end.
struct DimSharding {
  std::vector<AxisRef> axes;
  bool is_open = false;

  friend bool operator==(const DimSharding&, const DimSharding&) = default;
};

struct Sharding {
  std::vector<DimSharding> dims;
  std::vector<AxisRef> replicated;  ///< axes that may not be used for any dim
  std::vector<AxisRef> unreduced;   ///< the value is the sum of the shards along these

  int rank() const { return static_cast<int>(dims.size()); }
  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// Fully open and empty: nothing is known yet.
Sharding open_sharding(int rank);
/// Closed, whole on every device.
Sharding replicated_sharding(int rank);
/// The same axes, every dim closed.
Sharding closed(Sharding sharding);

/// Number of parts of one dim.
std::int64_t part_count(const DimSharding& dim);

/// Local shape; a size that is unknown stays unknown. Every dim of a program divides (checked when
/// shardings are made; see `indivisible`); of an array that may be padded it is the first piece,
/// the largest.
Shape local_shape(const Shape& shape, const Sharding& sharding);
/// Says nothing about sizes that are unknown.
bool divides_evenly(const Shape& shape, const Sharding& sharding);

/// The *effective* spec, size-1 axes dropped and 1-tuples unwrapped, padded with None to the rank:
/// `P('data', None)`, `P('x',)` for rank 1; `P()` when nothing is split, whatever the rank.
/// Sub-axes print as `x:(1)2`.
std::string spec_text(const Mesh& mesh, const Sharding& sharding);
/// The same without trailing Nones.
PartitionSpec effective_spec(const Mesh& mesh, const Sharding& sharding);

/// Shardy's form: `[{"data"}, {"model", ?}]`, with `, replicated={..}`, `, unreduced={..}` when
/// present.
std::string to_string(const Mesh& mesh, const Sharding& sharding);

/// The same split on the same devices (size-1 axes and open flags ignored, consecutive sub-axes
/// joined).
bool is_equivalent(const Mesh& mesh, const Sharding& a, const Sharding& b);

/// How many devices hold each piece: mesh size over the product of the used axes (those of the dims
/// and the unreduced ones).
std::int64_t copy_count(const Mesh& mesh, const Sharding& sharding);

}  // namespace shard
