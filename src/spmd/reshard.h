#pragma once
// From one sharding to another as a sequence of collectives (spec section 6.9).

#include <vector>

#include "shard/sharding.h"
#include "spmd/program.h"

namespace shard {

/// One step and the sharding after it. Payload and wire bytes are filled in for the array's type.
struct ReshardStep {
  Collective collective;
  Sharding after;
  Shape local;  ///< what a device holds after it, the padding of dims that do not divide included
};

/// The steps from `from` to `to` on one mesh that Shardy's reshard-to-collectives pass makes; empty
/// when they are equivalent. Both closed and even. See cheapest_reshard.h for the cheapest.
std::vector<ReshardStep> plan_reshard(const Mesh& mesh, const TensorType& global,
                                      const Sharding& from, const Sharding& to);

/// Bytes that a device sends in those steps.
Bytes reshard_bytes(const Mesh& mesh, const TensorType& global, const Sharding& from,
                    const Sharding& to);

/// Bytes one device sends with the bandwidth-optimal algorithm, `operand` being the local bytes
/// before the collective: all_reduce 2(n-1)/n of it, all_gather (n-1) times it, reduce_scatter and
/// all_to_all (n-1)/n of it, collective_permute all of it, all_slice 0. Source: "Collective
/// Communication: Theory, Practice, and Experience" (2007), lower bounds.
Bytes wire_bytes(CollectiveKind kind, Bytes operand, std::int64_t group_size);

/// Bytes that the busiest of `parts` devices sends when each fetches its window along `dim` of an
/// array of which it has a part of type `part`.
Bytes window_bytes(const PartWindow& window, const TensorType& part, int dim, std::int64_t parts);

/// Bytes that the busiest device sends of its `operand` to others: all of it, or nothing.
Bytes sent_bytes(const std::vector<int>& senders, Bytes operand);

}  // namespace shard
