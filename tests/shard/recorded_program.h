#pragma once
// A recorded StableHLO program as what our propagation runs on, with the recorded answer.

#include <string>
#include <vector>

#include "shard/axes.h"
#include "shard/flow.h"
#include "support/goldens.h"

namespace shard::tests {

/// `[{x, y:(1)2}, {?}], replicated={z}`.
Sharding read_sharding(const Mesh& mesh, const std::string& text);
/// The closed form: `[{x, y:(1)2}, {}]`.
std::string recorded_form(const Mesh& mesh, const Sharding& sharding);

/// `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`.
FactorRule read_rule(const std::string& text);

/// The factor rule of one op, as our table has it and as it was recorded.
struct ComparedRule {
  std::string op;
  std::string found;  ///< `no row` where the table has no such op
  std::string expected;
};

struct RecordedProgram {
  Mesh mesh;
  FlowGraph flow;
  std::vector<std::string> expected;         ///< by value: its sharding after propagation
  std::vector<std::string> expected_result;  ///< by position in flow.results
  std::vector<int> arguments;                ///< slots of the arguments
  std::vector<ComparedRule> rules;           ///< in program order
};

RecordedProgram read_program(const json& recorded);

}  // namespace shard::tests
