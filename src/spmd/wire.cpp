#include "base/check.h"
#include "ops/ragged_exchange.h"
#include "spmd/reshard.h"

namespace shard {

Bytes wire_bytes(CollectiveKind kind, Bytes operand, std::int64_t group_size) {
  const std::int64_t n = group_size;
  const std::int64_t bytes = operand.count();
  switch (kind) {
    case CollectiveKind::all_reduce:
      return Bytes(2 * (n - 1) * bytes / n);
    case CollectiveKind::all_gather:
      return Bytes((n - 1) * bytes);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return Bytes((n - 1) * bytes / n);
    case CollectiveKind::collective_permute:
    case CollectiveKind::collective_broadcast:
    case CollectiveKind::ragged_all_to_all:
      return operand;
    case CollectiveKind::all_slice:
      return Bytes(0);
  }
  SHARD_CHECK(false, "every collective kind has a wire formula");
}

std::size_t operand_count(CollectiveKind kind) {
  return kind == CollectiveKind::ragged_all_to_all ? ragged_operands : 1;
}

Bytes reshard_bytes(const Mesh& mesh, const TensorType& global, const Sharding& from,
                    const Sharding& to) {
  Bytes sent;
  if (from == to) return sent;
  for (const ReshardStep& step : plan_reshard(mesh, global, from, to)) sent += step.collective.wire;
  return sent;
}

Bytes sent_bytes(const std::vector<int>& senders, Bytes operand) {
  for (std::size_t to = 0; to < senders.size(); ++to) {
    if (senders[to] >= 0 && senders[to] != static_cast<int>(to)) return operand;
  }
  return Bytes(0);
}

Bytes window_bytes(const PartWindow& window, const TensorType& part, int dim, std::int64_t parts) {
  const std::int64_t size = part.shape[static_cast<std::size_t>(dim)];
  if (size == 0) return Bytes(0);
  return Bytes(most_sent(window, size, parts) * (bytes_of(part).count() / size));
}

}  // namespace shard
