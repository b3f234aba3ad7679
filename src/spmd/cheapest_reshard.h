#pragma once
// The cheapest reshard: which collectives bring an array from one sharding to another with the
// fewest bytes sent (see reshard_search.h for how it is found).

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/reshard.h"

namespace shard {

struct ReshardLimits {
  Bytes memory;                  ///< operand and result of a step together; 0: no limit
  std::int64_t layouts = 1'000;  ///< looked at before settling for a stated bound
  bool idle_axes = true;         ///< mesh axes that neither side has may be used on the way
  bool cuts_axes = true;         ///< axes may be moved in parts, down to their prime factors
  std::optional<Bytes> below{};  ///< only ways that send less are of interest
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  Bytes wire;         ///< of all steps
  Bytes peak;         ///< most bytes of operand and result of one step; what is held without steps
  Bytes moved_peak;   ///< the same of the steps that reduce nothing; 0 without such steps
  Bytes lower_bound;  ///< no sequence of such collectives sends less; `wire` when this one is
                      ///< cheapest
};

/// All_slice, all_gather, all_to_all and collective_permute over axes and their prime factors, and
/// all_reduce and reduce_scatter over axes that `to` leaves no more unreduced. Of equally cheap
/// sequences one with few steps, and of their orders one in which the mesh's outer axes carry least
/// (see step_order.h) where the memory allows it. Dims need not divide: pieces are padded, and a
/// dim whose padding differs between the two sides gets whole on the way. Both closed; what is
/// unreduced in `to` is so in `from`. Nothing when the memory does not suffice, or when nothing is
/// found below what was asked for. Never more bytes than `plan_reshard`, which is asked where the
/// search gave up.
std::optional<ReshardPlan> cheapest_reshard(const Mesh& mesh, const TensorType& global,
                                            const Sharding& from, const Sharding& to,
                                            const ReshardLimits& limits = {});

/// The sequence of those whose peak is least, or found to be, and that sends least with it; more
/// memory than `limits.memory`.
ReshardPlan leanest_reshard(const Mesh& mesh, const TensorType& global, const Sharding& from,
                            const Sharding& to, const ReshardLimits& limits = {});

/// The same figures of given steps, `lower_bound` being what `cheapest` has.
ReshardPlan weighed(const TensorType& global, const Sharding& from, std::vector<ReshardStep> steps);

}  // namespace shard
