// How much of the parameters each mesh axis leaves whole, in bytes.
#include <cmath>
#include <string>

#include "check/finders.h"
#include "check/mesh_use.h"
#include "model/range_names.h"

namespace shard {
namespace {

/// Less than this is not worth a word: norms, biases, scales.
constexpr std::int64_t tolerated_percent = 5;

/// Parameters by whether one axis splits them; whole bytes, so that no axis counts for another.
struct Share {
  Bytes split;
  Bytes unsplit;
  const GraphInput* largest = nullptr;
  Bytes largest_bytes;
  std::int64_t unsplit_arrays = 0;

  std::int64_t total() const { return (split + unsplit).count(); }
  bool is_told() const {
    return split > Bytes(0) && unsplit.count() / tolerated_percent > total() / 100;
  }
};

Share share_of(const ShardedGraph& sharded, int axis) {
  Share share;
  for (const GraphInput& input : sharded.graph.inputs) {
    if (input.role != Role::parameter) continue;
    const TensorType& type = sharded.graph.value(input.value).type;
    const Bytes each = bytes_of(type);
    const Bytes bytes = input.iteration.count() * each;
    if (axes_of(sharded.sharding(input.value)).contains(axis)) {
      share.split += bytes;
      continue;
    }
    share.unsplit += bytes;
    share.unsplit_arrays += input.iteration.count();
    if (share.largest == nullptr || each > share.largest_bytes) {
      share.largest = &input;
      share.largest_bytes = each;
    }
  }
  return share;
}

/// `10.0`: a share in percent, rounded.
std::string percent(std::int64_t part, std::int64_t whole) {
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  const auto tenths = static_cast<std::int64_t>(std::llround(share * 1000));
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
}

}  // namespace

std::vector<Finding> find_unsplit_share(const PlanFacts& facts, const FindingKind& kind) {
  std::vector<Finding> found;
  const auto& axes = facts.sharded.mesh.axes();
  for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis) {
    const MeshAxisInfo& info = axes[static_cast<std::size_t>(axis)];
    if (info.size <= 1) continue;
    const Share share = share_of(facts.sharded, axis);
    if (!share.is_told()) continue;
    const Bytes cost(share.unsplit.count() / info.size * (info.size - 1));
    found.push_back({kind.severity, std::string(kind.id), info.at,
                     info.name.text() + " splits parameters, but not " +
                         with_commas(share.unsplit) + " of " + with_commas(share.total()) + " B (" +
                         percent(share.unsplit.count(), share.total()) + "%) in " +
                         with_commas(share.unsplit_arrays) +
                         (share.unsplit_arrays == 1 ? " array" : " arrays") + ", the largest " +
                         narrowed(share.largest->path, 0, 1),
                     "", cost});
  }
  return found;
}

}  // namespace shard
