#pragma once
// How the values of a graph are split, each kind of split brought to one form once: layers repeat,
// and most of what is worked out of one value holds for its counterparts.

#include <string>
#include <unordered_map>
#include <vector>

#include "shard/sharded_graph.h"

namespace shard::spmd {

/// The kinds of values on one mesh, of any number of graphs.
struct ValueKindTable {
  std::unordered_map<std::string, int> numbers;  ///< by `NumberKey`
  std::vector<Sharding> shardings;               ///< by kind: declared, canonical
};

/// Those of one graph. Values are of one kind when their types are equal, they are declared to be
/// split alike, and either both or none of them is a constant zero.
class ValueKinds {
 public:
  /// Shardings have to be even. `table` must outlive this.
  ValueKinds(const ShardedGraph& sharded, ValueKindTable& table);

  int kind(ValueId value) const { return kinds_[index_of(value)]; }
  /// As the graph declares it, canonical.
  const Sharding& declared(ValueId value) const {
    return table_.shardings[static_cast<std::size_t>(kind(value))];
  }

 private:
  const ValueKindTable& table_;
  std::vector<int> kinds_;  ///< by value
};

}  // namespace shard::spmd
