#pragma once
// How the values of a graph are split, each kind of split brought to one form once: layers repeat,
// and most of what is worked out of one value holds for its counterparts.

#include <vector>

#include "shard/sharded_graph.h"

namespace shard::spmd {

/// Values are of one kind when their types are equal, they are declared to be split alike, and
/// either both or none of them is a constant zero.
class ValueKinds {
 public:
  /// Shardings have to be even. `sharded` must outlive this.
  explicit ValueKinds(const ShardedGraph& sharded);

  int kind(ValueId value) const { return kinds_[index_of(value)]; }
  /// As the graph declares it, canonical.
  const Sharding& declared(ValueId value) const {
    return shardings_[static_cast<std::size_t>(kind(value))];
  }

 private:
  std::vector<int> kinds_;           ///< by value
  std::vector<Sharding> shardings_;  ///< by kind
};

}  // namespace shard::spmd
