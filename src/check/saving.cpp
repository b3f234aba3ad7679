#include "check/saving.h"

#include <set>

#include "check/mesh_use.h"

namespace shard {
namespace {

/// The decision that placed a value; -1 when no rule was asked.
int decision_of(const ShardedGraph& sharded, ValueId value) {
  for (const std::vector<Reason>& dim : sharded.reasons[index_of(value)]) {
    for (const Reason& reason : dim) {
      if (reason.decision >= 0) return reason.decision;
    }
  }
  return -1;
}

}  // namespace

std::map<int, std::vector<PlacedLeaf>> leaves_by_decision(const ShardedGraph& sharded,
                                                          const Model& model) {
  std::map<int, std::vector<PlacedLeaf>> all;
  for (const GraphInput& input : sharded.graph.inputs) {
    if (input.state_leaf < 0 || index_of(input.value) >= sharded.reasons.size()) continue;
    const int decision = decision_of(sharded, input.value);
    if (decision < 0) continue;
    const StateLeaf& leaf = model.state[static_cast<std::size_t>(input.state_leaf)];
    const Sharding& sharding = sharded.sharding(input.value);
    const Bytes local = bytes_of({leaf.type.dtype, local_shape(leaf.type.shape, sharding)});
    all[decision].push_back({&leaf, &sharding, local, leaf.iteration.count()});
  }
  return all;
}

std::optional<Bytes> saving(const Mesh& mesh, const PlacedLeaf& leaf, std::size_t dim,
                            const std::vector<int>& axes) {
  if (dim >= leaf.leaf->type.shape.size()) return {};
  std::int64_t parts = 1;
  for (const int axis : axes) parts *= mesh.size(axis);
  const std::int64_t size = leaf.leaf->type.shape[dim];
  const std::int64_t already = part_count(leaf.sharding->dims[dim]);
  if (size == unknown_size || size % (already * parts) != 0) return {};
  return leaf.count * Bytes(leaf.local.count() / parts * (parts - 1));
}

std::vector<int> free_axes(const Mesh& mesh, const PlacedLeaf& leaf, const PartitionEntry& target) {
  const std::set<int> used = axes_of(*leaf.sharding);
  std::vector<int> axes;
  for (const MeshAxis& name : target.axes) {
    const auto axis = mesh.find(name);
    if (axis && mesh.size(*axis) > 1 && !used.contains(*axis)) axes.push_back(*axis);
  }
  return axes;
}

std::string target_text(const Mesh& mesh, const std::vector<int>& axes) {
  std::string text;
  for (const int axis : axes) {
    text += (text.empty() ? "" : ", ") + mesh.axes()[static_cast<std::size_t>(axis)].name.text();
  }
  return axes.size() > 1 ? '[' + text + ']' : text;
}

}  // namespace shard
