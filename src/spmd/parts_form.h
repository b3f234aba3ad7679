#pragma once
// Ops in parts that need each other: what a device computes of its own parts, and what it fetches
// or combines, where the op's plain local form would need a whole dim (see local_op.h).
//
//   windows     slice, pad, concatenate, reverse, convolution, reduce_window: each part of the
//               result needs a window of each operand, which one permute fetches (part_window.h)
//   places      ppermute: the parts of a dim, one place each, change devices
//   members     ragged_all_to_all: a device has one member of each exchange
//   lines       argmax, argmin, top_k, cumulative ops: each part on its own, then one answer per
//               part goes round
//   sorts       another dim is split meanwhile, or sorted parts are merged
//   lookups     dynamic_slice: each device gives what it has of the slice, and zeros; a sum
//   pieces      slice that one device has whole: a broadcast
//
// Whether it sends less than making the dims whole is for the caller to find out.

#include <span>
#include <vector>

#include "spmd/common_factors.h"
#include "spmd/parts_builder.h"

namespace shard::spmd {

struct PartsSite {
  const Graph& graph;
  const Node& node;
  std::vector<TensorType> operands;  ///< whole
  std::vector<TensorType> results;
  const CommonFactors& common;  ///< chosen by the form's own rule

  const Axes& operand_axes(std::size_t operand, std::int64_t dim) const {
    return common.tensors[operand][static_cast<std::size_t>(dim)];
  }
  const Axes& result_axes(std::size_t result, std::int64_t dim) const {
    return operand_axes(operands.size() + result, dim);
  }
  /// What a device has of a result.
  TensorType local_result(std::size_t result) const;
  const Attributes& attributes() const { return node.attributes; }
};

struct PartsForm {
  Op op;
  /// From the op's rule: the factors that this form can split pass through or are combined.
  FactorRule (*rule)(FactorRule rule, const Node& node);
  /// nullptr, or whether the form can compute with these axes and sizes (those divide already).
  bool (*fits)(const PartsSite& site);
  /// Local operands to local results, partial over `common.reduced`.
  std::vector<BufferId> (*emit)(PartsBuilder& build, const PartsSite& site,
                                const std::vector<BufferId>& operands);
  bool is_asked =
      false;  ///< the op says what is sent: where the form fits, nothing else is weighed
};

/// In the order in which they are tried; none for most ops.
std::vector<const PartsForm*> parts_forms(Op op);

/// The axes divide every dim, and the form can do it.
bool fits(const PartsForm& form, const PartsSite& site);

/// What the busiest device sends within the form. The program is left as it was.
Bytes exchanged_bytes(Program& program, int body, const PartsForm& form, const PartsSite& site);

// The forms by the file they live in.
std::span<const PartsForm> move_forms();    // parts_of_moves.cpp
std::span<const PartsForm> window_forms();  // parts_of_windows.cpp
std::span<const PartsForm> line_forms();    // parts_of_lines.cpp
std::span<const PartsForm> sort_forms();    // parts_of_sorts.cpp

}  // namespace shard::spmd
