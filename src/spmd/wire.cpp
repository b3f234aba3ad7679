#include "base/check.h"
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
      return operand;
    case CollectiveKind::all_slice:
      return Bytes(0);
  }
  SHARD_CHECK(false, "every collective kind has a wire formula");
}

}  // namespace shard
