#pragma once
// A manual region (shard_map): layers that run on every device alone, on its part of the arrays,
// with collectives by name.
//
// Its layers are first built on a graph of their own, with the shapes that one device sees. That
// graph is then played again on whole arrays: a value that differs between the devices along mesh
// axes has a leading dim for each of these axes, in the mesh's order, split over it; a value that
// does not differ has none. So every op of the region is an op for each device alone, and a
// collective is an op along the leading dims: psum a sum, all_gather a reshape that takes one of
// them in. The unsharded run of the same graph does what each device does, one after the other, on
// the whole values; derivatives are those of these ops.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/graph_builder.h"

namespace shard {

struct ManualAxis {
  std::string name;
  std::int64_t size = 1;
};

enum class ManualKind {
  psum,
  pmean,
  pmax,
  pmin,
  all_gather,
  psum_scatter,
  all_to_all,
  ragged_all_to_all,
  ppermute,
  pbroadcast,
  axis_index,
};

/// A collective in the region. Its result is a value of the region's graph without a producer.
struct ManualCollective {
  ManualKind kind = ManualKind::psum;
  ValueId operand = ValueId::none;  ///< none for axis_index
  std::vector<ValueId> others{};    ///< ragged_all_to_all: its operands behind the first
  ValueId result = ValueId::none;
  std::vector<int> axes;   ///< positions in ManualBody::axes, in order
  std::int64_t dim = 0;    ///< gathered, scattered; all_to_all: split
  std::int64_t other = 0;  ///< all_to_all: concatenated; pbroadcast: whose value all get
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs{};  ///< ppermute: source and target
  NodeOrigin origin{};
  RegionId region = id_at<RegionId>(0);  ///< of the region's graph: its body, or that of a loop
  std::size_t position = 0;              ///< nodes of that before it
};

class ManualBody {
 public:
  std::vector<ManualAxis> axes;  ///< of the region, in the mesh's order
  bool is_full = true;           ///< they are all axes of the mesh
  Graph graph;
  std::vector<ManualCollective> collectives;

  /// -1 for an axis that is not of the region.
  int position_of(std::string_view axis) const;
  std::int64_t product(const std::vector<int>& positions) const;
};

/// A value of the region on whole arrays.
struct StackedValue {
  ValueId value = ValueId::none;
  std::vector<int> axes;     ///< of its leading dims
  std::vector<int> varying;  ///< along which it may differ, as JAX infers it
};

}  // namespace shard
