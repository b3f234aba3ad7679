#pragma once
// Ops that work along a dim, on arrays that are padded at the dim's end: what has to stand in the
// padding of an operand, and what the attributes become, so that the real part of the result is
// right. What the padding of a result holds does not matter.

#include <optional>
#include <span>
#include <vector>

#include "model/graph.h"
#include "ops/builder.h"
#include "ops/factors.h"

namespace shard {

/// A node of the unpadded graph, and where it is padded.
struct PaddedNode {
  const Graph& graph;
  const Node& node;
  const std::vector<TensorType>& operands;  ///< without padding
  const std::vector<TensorType>& results;
};

/// How one op bears padding along the dims that it does not treat element by element.
struct PaddedOp {
  Op op;
  /// Whether padding along this dim of the operand `operand` can be borne.
  bool (*bears)(const PaddedNode& node, std::size_t operand, std::size_t dim);
  /// What the padding is replaced by before the op sees it; nothing: it may stay.
  std::optional<double> (*ignored)(const PaddedNode& node, std::size_t operand, std::size_t dim);
  /// The attributes on the padded types; nullptr: they stay.
  Attributes (*attributes)(const PaddedNode& node, std::span<const TensorType> operands,
                           std::span<const TensorType> results) = nullptr;
  /// Another op that does it; `made` has the operands to work on, of padded types, and gets the op,
  /// its operands and attributes. What comes before it is added through the builder. nullptr: the
  /// op itself.
  void (*rewrite)(Builder& builder, const PaddedNode& node, const TensorType& result,
                  Node& made) = nullptr;
};

/// nullptr for an op that bears none.
const PaddedOp* padded_op(Op op);

std::span<const PaddedOp> padded_moves();  ///< padded_moves.cpp

}  // namespace shard
