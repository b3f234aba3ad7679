#pragma once
// What splitting state further would take off each device.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/findings.h"

namespace shard {

/// A leaf of the state as it is placed.
struct PlacedLeaf {
  const StateLeaf* leaf = nullptr;
  const Sharding* sharding = nullptr;
  Bytes local;             ///< of one of the arrays it stands for
  std::int64_t count = 1;  ///< arrays it stands for
};

/// The leaves that the rules placed, by their decision (position in `ShardedGraph::decisions`).
std::map<int, std::vector<PlacedLeaf>> leaves_by_decision(const ShardedGraph& sharded,
                                                          const Model& model);

/// What goes if `axes` split `dim` of the leaf further; nothing where they do not divide it.
std::optional<Bytes> saving(const Mesh& mesh, const PlacedLeaf& leaf, std::size_t dim,
                            const std::vector<int>& axes);

/// The axes of the target that have more than one device and split no dim of the leaf yet.
std::vector<int> free_axes(const Mesh& mesh, const PlacedLeaf& leaf, const PartitionEntry& target);

/// `fsdp`, `[fsdp, data]`.
std::string target_text(const Mesh& mesh, const std::vector<int>& axes);

}  // namespace shard
