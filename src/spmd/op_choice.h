#pragma once
// How each device computes its part of an op: as Shardy does, or so that least is sent.

#include <cstdint>
#include <optional>
#include <vector>

#include "shard/sharded_graph.h"
#include "spmd/common_factors.h"
#include "spmd/forms.h"
#include "spmd/linear_ops.h"
#include "spmd/loop_frames.h"
#include "spmd/parts_form.h"
#include "spmd/program_writer.h"
#include "spmd/reshard_choice.h"

namespace shard::spmd {

/// Axes of an op's tensors while it runs, and over which axes some of them are sums of which every
/// device has a part.
struct OpWay {
  CommonFactors common;
  const PartsForm* form = nullptr;  ///< in parts that need each other; nullptr: plainly
  Bytes exchanged{};                ///< sent within the form
  Axes sums{};
  std::vector<char> has_sums{};              ///< by operand; empty: none has
  std::optional<std::size_t> accumulator{};  ///< the carry to which the sums are added

  Sharding operand(std::size_t position) const;
  /// What comes out before anything is reduced; `position` counts operands and results.
  Sharding result(std::size_t position) const;
};

PartsSite parts_site(const Graph& graph, const Node& node, const CommonFactors& common);

class OpChoice {
 public:
  /// All must outlive this.
  OpChoice(const Graph& graph, const std::vector<Sharding>& declared, const Forms& forms,
           const LoopFrames& loops, ReshardChoice& reshards, ProgramWriter& write)
      : graph_(graph),
        declared_(declared),
        forms_(forms),
        loops_(loops),
        reshards_(reshards),
        write_(write) {}

  /// The axes on which Shardy settles, in parts where that sends less. `rule` is always the op's
  /// own.
  OpWay compatible(const Node& node, const FactorRule& rule) const;
  /// That where it moves no operand, else what costs least of it, the ways that leave one tensor
  /// as it is, and the ways that pass sums on.
  OpWay cheapest(const Node& node, const FactorRule& rule);
  /// The way to make the node's only result once more, split like this, where bringing what it
  /// reads there costs less than `limit`.
  std::optional<OpWay> again(const Node& node, const FactorRule& rule, const Sharding& wanted,
                             Bytes limit);

  /// By which the way is computed: what must be whole has no axes there.
  static FactorRule rule_of_way(const Node& node, const FactorRule& rule, const PartsForm* form);

 private:
  struct Tensors {
    std::vector<Shape> shapes;
    std::vector<AxesPerDim> axes;
  };

  const Sharding& declared(ValueId value) const { return declared_[index_of(value)]; }
  Tensors tensors(const Node& node) const;
  std::optional<OpWay> in_parts(const Node& node, const PartsForm& form,
                                CommonFactors common) const;
  std::vector<OpWay> candidates(const Node& node, const FactorRule& rule) const;
  Bytes sent_around(const Node& node, const OpWay& way) const;
  bool moves_nothing(const Node& node, const CommonFactors& common) const;
  std::vector<OpWay> ways_with_sums(const Node& node, const FactorRule& rule) const;
  std::optional<OpWay> summing(const Node& node, SumOperands set) const;
  const Form* unreduced_form(ValueId value) const;
  void add_summing_ways(const Node& node, const FactorRule& rule, const OpWay& pattern,
                        std::vector<OpWay>& ways) const;
  std::optional<std::int64_t> operand_cost(const Node& node, const OpWay& way);
  std::optional<std::int64_t> cost_of(const Node& node, const FactorRule& rule, const OpWay& way);
  std::optional<std::int64_t> bytes_to(ValueId value, const Sharding& wanted);

  const Graph& graph_;
  const std::vector<Sharding>& declared_;
  const Forms& forms_;
  const LoopFrames& loops_;
  ReshardChoice& reshards_;
  ProgramWriter& write_;
};

}  // namespace shard::spmd
