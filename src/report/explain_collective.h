#pragma once
// Why a collective is there, and what other edits would make of it.

#include "report/explain.h"

namespace shard {

/// Everything about the collective of the main function but what would be instead of it.
CollectiveAnswer explain_collective(const Plan& plan, const CollectiveRow& row,
                                    std::int64_t number);

/// The rules that split what the collective's axes sum or gather, by number from 1, at most two:
/// without them it might not be there.
std::vector<int> rules_behind(const Plan& plan, const CollectiveRow& row);

/// Another spec for the constraint that asks for the result: the axes of the collective on a dim
/// that is not split. Logical names where a rule gives them.
struct OtherConstraint {
  SpecConfig spec;
  Location at;  ///< of the constraint it takes the place of
};
std::optional<OtherConstraint> other_constraint(const Plan& plan, const CollectiveRow& row);

/// What becomes of the collective in a plan after an edit: `no all_reduce over model, state x4.0`.
std::string effect_of(const Plan& plan, const CollectiveRow& row, const PlannedFunction& edited,
                      Bytes state_before, Bytes state_after);

}  // namespace shard
