#pragma once
// One way in which each device computes its part of an op.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spmd/common_factors.h"
#include "spmd/parts_form.h"

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
  // What follows from that; see `make_way`.
  std::vector<Sharding> tensors{};  ///< operands as they are wanted, results before anything is
                                    ///< reduced
  std::int64_t work = 0;            ///< a device's own, in the bytes that it could send meanwhile
  /// Those of the instruction, where they are known to differ from the node's.
  std::optional<Attributes> local{};

  bool is_asked() const { return form != nullptr && form->is_asked; }
  const Sharding& operand(std::size_t position) const { return tensors[position]; }
  /// `position` counts operands and results.
  const Sharding& result(std::size_t position) const { return tensors[position]; }
};

/// Several ops may be computed in the same way.
using Way = std::shared_ptr<const OpWay>;

/// Fills in what follows. `rule` is the op's own.
Way make_way(OpWay way, const Graph& graph, const Node& node, const FactorRule& rule);

PartsSite parts_site(const Graph& graph, const Node& node, const CommonFactors& common);

}  // namespace shard::spmd
