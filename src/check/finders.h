#pragma once
// The finders, one per row of the finding table; each returns what it found, in order of the files.

#include <vector>

#include "check/findings.h"

namespace shard {

/// Large state that several devices hold whole pieces of, by the axes it is copied over.
std::vector<Finding> find_replicated_large(const PlanFacts& facts, const FindingKind& kind);
/// Optimizer state that could be split where its parameter is whole.
std::vector<Finding> find_optimizer_follows_replicated(const PlanFacts& facts,
                                                       const FindingKind& kind);

/// Mesh axes that split parameters but leave more than a few percent of their bytes whole.
std::vector<Finding> find_unsplit_share(const PlanFacts& facts, const FindingKind& kind);

// about the rules
std::vector<Finding> find_rules_never_used(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_rules_shadowed(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_axes_of_size_one_that_block(const PlanFacts& facts,
                                                      const FindingKind& kind);
std::vector<Finding> find_unmatched_names(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_resolvers_that_disagree(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_paths_that_match_nothing(const PlanFacts& facts, const FindingKind& kind);

// about the arrays
std::vector<Finding> find_missing_names(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_arrays_without_axes(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_dropped_axes(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_uneven(const PlanFacts& facts, const FindingKind& kind);

// about the mesh
std::vector<Finding> find_axes_unused(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_no_input_split(const PlanFacts& facts, const FindingKind& kind);

// about what is moved
std::vector<Finding> find_full_remats(const PlanFacts& facts, const FindingKind& kind);
std::vector<Finding> find_implicit_reshards(const PlanFacts& facts, const FindingKind& kind);

}  // namespace shard
