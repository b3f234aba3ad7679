#pragma once
// Findings: every waste and surprise of a plan, each with an id, where, what it costs and the
// smallest fix. On the guide's mesh data 2 x model 4 the kernels are split over model only, so each
// piece is on two devices: `replicated-large`, a note, because data is there to split the batch.

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

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// What a finder looks at. The graph of `sharded` is the one that was planned.
struct PlanFacts {
  const Model& model;
  const ShardedGraph& sharded;
  const Program& program;
  const RulesConfig& rules;
};

/// One row per kind of finding: id, usual severity, one line of documentation, who finds it.
struct FindingKind {
  std::string_view id;
  Severity severity;
  std::string_view help;
  std::vector<Finding> (*find)(const PlanFacts& facts, const FindingKind& kind);
};
std::span<const FindingKind> finding_table();

/// All findings and what the model's builder remarked: errors, warnings, notes; each by cost, then
/// in order of the table.
std::vector<Finding> find_all(const Model& model, const ShardedGraph& sharded,
                              const Program& program, const RulesConfig& rules);

/// Does the peak fit into `capacity`?
struct Fit {
  Bytes capacity;
  Bytes peak;
  bool fits() const { return peak <= capacity; }
};

}  // namespace shard
