#pragma once
// Which typing rule an op of our own graph follows.

#include "model/graph.h"
#include "shard/explicit_typing.h"

namespace shard {

struct OpTyping {
  std::string_view op;    ///< the name in the op table
  std::string_view rule;  ///< the row of the typing table
  Parameters (*parameters)(const Attributes& attributes) = nullptr;  ///< nullptr: none
  bool takes_out_sharding = false;
};

/// nullptr for elementwise ops and for those that are typed by their factors.
const OpTyping* op_typing(std::string_view op);

/// Types of a node's results by its factors, for ops without a row: a result dim has the entry of
/// the operand dims with its factor, as in elementwise ops. Throws `TypingRefusal`: `incompatible`
/// for two entries of one factor, `ambiguous_contraction` for a reduction that two operands split,
/// `split_factor` for a split dim that the op needs whole, `uneven_change` for one whose size
/// changes to one that its axes do not divide.
ShardedTypes typed_by_factors(const Mesh& mesh, std::string_view op, const FactorRule& rule,
                              const ShardedTypes& operands, std::span<const TensorType> results);

}  // namespace shard
