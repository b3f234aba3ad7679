#pragma once
// Findings: every waste and surprise of a plan, each with an id, where, what it costs and the
// smallest fix.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "model/model.h"
#include "shard/sharded_graph.h"
#include "spmd/program.h"

namespace shard {

struct Finding {
  Severity severity = Severity::note;
  std::string id;
  Location at;
  std::string message;
  std::string fix;  ///< the smallest edit that removes it; may be empty
  Bytes cost;       ///< bytes per device that it costs; 0 when it is not about bytes
};

/// One row per kind of finding: id, default severity, one line of documentation.
struct FindingKind {
  std::string_view id;
  Severity severity;
  std::string_view help;
};
std::span<const FindingKind> finding_table();

/// `rules` is needed for where the rules stand. Sorted: errors, warnings, notes, each by cost.
std::vector<Finding> find_all(const Model& model, const ShardedGraph& sharded,
                              const Program& program, const RulesConfig& rules);

/// Does the peak fit into `capacity`?
struct Fit {
  Bytes capacity;
  Bytes peak;
  bool fits() const { return peak <= capacity; }
};

}  // namespace shard
