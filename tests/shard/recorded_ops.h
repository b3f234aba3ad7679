#pragma once
// Recorded StableHLO ops as rows of our op table.

#include <optional>
#include <string>
#include <vector>

#include "ops/op.h"
#include "support/goldens.h"

namespace shard::tests {

/// What an op of a recorded program is computed from.
struct RecordedOp {
  const json& op;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
  /// Per operand the kind of op that made it (`slice`, `constant`), empty for arguments, and the
  /// number of the value that a slice was cut from.
  std::vector<std::string> makers;
  std::vector<int> sliced_from;
};

/// The factor rule of the row that the op is; nothing for ops without a row.
std::optional<FactorRule> rule_by_row(const RecordedOp& recorded);

/// As the recordings print a rule: `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`.
std::string recorded_text(const FactorRule& rule);

}  // namespace shard::tests
