#pragma once
// The reshards of a partitioned program: what is moved from one sharding to another, for which op,
// and whether anybody asked for it. On the guide's mesh with its MLP under fsdp rules the product
// of x, P('fsdp', None), with a kernel, P('fsdp', None), moves x to P(None, 'fsdp'): that is one
// reshard of x, an all_to_all, and no constraint, reshard or output asks for it.
//
// A sum that an op leaves to be reduced is no reshard: it is part of the op.

#include <string>
#include <vector>

#include "shard/sharded_graph.h"
#include "spmd/program.h"

namespace shard {

/// One step of a reshard that sends something.
struct ReshardMove {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<AxisRef> axes;

  friend bool operator==(const ReshardMove&, const ReshardMove&) = default;
};

struct Reshard {
  CollectiveReason why;           ///< the op, what of it, both specs
  ValueId value = ValueId::none;  ///< what is moved
  std::vector<ReshardMove> moves;
  std::int64_t count = 1;  ///< executions per step, of all iterations it stands for
  Bytes wire;              ///< of all executions, per device
  Bytes whole;             ///< the most bytes one device holds of it on the way
  /// A constraint, a reshard or the placement of an output asks for it.
  bool is_asked_for = false;
  /// Every device gets the whole array and then cuts its piece out: XLA's "involuntary full
  /// rematerialization".
  bool is_full_remat = false;
};

/// Those that send something, in order of execution.
std::vector<Reshard> reshards_of(const ShardedGraph& sharded, const Program& program);

/// A reshard of `value` that nothing asks for: an op wants an operand otherwise than it is, a loop
/// its carry, or a result is wanted otherwise than its op makes it, and not because a constraint or
/// the placement of an output says so. What the collectives of a manual region are made of, and
/// their derivatives, is asked for along its axes: `axes` are those of the collective. So are lists
/// that a ragged_all_to_all exchanges to send rows back.
bool is_implicit(const ShardedGraph& sharded, const CollectiveReason& why, ValueId value,
                 const std::vector<AxisRef>& axes);

/// What is moved, in words: `x`, `params/Dense_0/kernel`, `dot of Dense_0 (backward)`.
std::string tensor_name(const Graph& graph, ValueId value);

/// The op that wants it, in words: `dot of DotReluDot_0/W2 (backward)`; `the result y` where no op
/// does.
std::string op_name(const Graph& graph, const CollectiveReason& why);

}  // namespace shard
