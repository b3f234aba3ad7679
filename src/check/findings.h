#pragma once
// Findings: every waste and surprise of a plan, each with an id, where, what it costs and the
// smallest fix. On the guide's mesh data 2 x model 4 the kernels are split over model only, so each
// piece is on two devices: `replicated-large`, a note, because data is there to split the batch.
//
// Warnings are what a person should act on; notes are worth knowing. How loud a kind is can be
// changed (`apply_levels`); mistakes for which there is no plan are always errors.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "config/finding_levels.h"
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

/// What a finder looks at. The graph of `sharded` is the one that was planned; `program` is empty
/// for a model that has none.
struct PlanFacts {
  const Model& model;
  const ShardedGraph& sharded;
  const Program& program;
  const RulesConfig& rules;
  const ModelConfig* config = nullptr;  ///< of the model, where fixes may be tried on it
};

/// One row per kind of finding: id, usual severity, what it is, what to do, who finds it.
struct FindingKind {
  std::string_view id;
  Severity severity;
  std::string_view help;
  std::string_view act;
  /// Nothing: it is raised where files are read and specs are resolved, and then there is no plan.
  std::vector<Finding> (*find)(const PlanFacts& facts, const FindingKind& kind);
  /// Also raised as an error there, in cases for which there is no plan.
  bool may_stop = false;
  /// Looked for only where a level is given for it.
  bool is_on_request = false;
};
std::span<const FindingKind> finding_table();
/// Null when there is none.
const FindingKind* finding_kind(std::string_view id);

/// All findings, what the model's builder and the rules' reader remarked: errors, warnings, notes;
/// each by cost, then in order of the table. As loud as the rules' `findings` say and then as
/// `levels` say: see `apply_levels`. With the model's `config` fixes that edit the model are
/// planned before they are named; without it findings about reshards have none.
std::vector<Finding> find_all(const Model& model, const ShardedGraph& sharded,
                              const Program& program, const RulesConfig& rules,
                              std::span<const FindingLevelConfig> levels = {},
                              const ModelConfig* config = nullptr);

/// The findings at these levels (the last word about an id counts), those that are off left out,
/// ordered anew. Throws `Error` with all of `unknown-finding` (nearest) and `fixed-level` (for what
/// is always an error).
std::vector<Finding> apply_levels(std::vector<Finding> findings,
                                  std::span<const FindingLevelConfig> levels);

/// Does the peak fit into `capacity`?
struct Fit {
  Bytes capacity;
  Bytes peak;
  bool fits() const { return peak <= capacity; }
};

}  // namespace shard
