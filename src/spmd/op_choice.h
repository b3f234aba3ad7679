#pragma once
// How each device computes its part of an op: as Shardy does, or so that least is sent.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/forms.h"
#include "spmd/linear_ops.h"
#include "spmd/loop_frames.h"
#include "spmd/op_kinds.h"
#include "spmd/reshard_choice.h"

namespace shard::spmd {

class OpChoice {
 public:
  /// All must outlive this.
  OpChoice(const Graph& graph, const ValueKinds& values, OpKinds& kinds, const Forms& forms,
           const LoopFrames& loops, ReshardChoice& reshards)
      : graph_(graph),
        values_(values),
        kinds_(kinds),
        forms_(forms),
        loops_(loops),
        reshards_(reshards) {}

  /// The axes on which Shardy settles, in parts where that sends less.
  const Way& compatible(NodeId id);
  /// That where it moves no operand, else what costs least of it, the ways that leave one tensor
  /// as it is, and the ways that pass sums on.
  Way cheapest(NodeId id);
  /// The way to make the node's only result once more, split like this, where bringing what it
  /// reads there costs less than `limit`; else nothing.
  Way again(NodeId id, const Sharding& wanted, Bytes limit);

 private:
  const Sharding& declared(ValueId value) const { return values_.declared(value); }
  Bytes sent_around(const Node& node, const OpWay& way);
  bool moves_nothing(const Node& node, const OpWay& way) const;
  std::vector<Way> ways_with_sums(NodeId id);
  bool has_term(const Node& node, SumOperands set) const;
  std::optional<OpWay> summing(const Node& node, SumOperands set) const;
  const Form* unreduced_form(ValueId value) const;
  void add_summing_ways(NodeId id, const OpWay& pattern, std::vector<Way>& ways);
  std::optional<std::int64_t> operand_cost(const Node& node, const OpWay& way);
  std::optional<std::int64_t> cost_of(const Node& node, const OpWay& way);
  std::optional<std::int64_t> bytes_to(ValueId value, const Sharding& wanted);
  std::int64_t terms_beside(ValueId value, const Axes& sums);
  bool may_be_sum(ValueId value, const Axes& sums);

  const Graph& graph_;
  const ValueKinds& values_;
  OpKinds& kinds_;
  const Forms& forms_;
  const LoopFrames& loops_;
  ReshardChoice& reshards_;
};

}  // namespace shard::spmd
