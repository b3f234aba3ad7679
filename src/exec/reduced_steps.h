#pragma once
// An all_reduce with the loop that alone reads its result done by the same workers, part by part:
// whoever adds a part of the members' arrays runs the loop's steps on it for every member while it
// is in the cache. The sum is never stored: of a gradient and an optimizer's update this leaves out
// a write and a read of all gradients. The bits are those of one after the other.

#include <memory>

#include "exec/collective.h"
#include "exec/fused_plan.h"

namespace shard {

/// False of a loop by rows, and of one that reads the sum at other points than its own.
bool can_follow_reduction(const FusedPlan& plan, std::size_t sum);

/// The work; operand `sum` of the loop is the all_reduce's result. A member's `also_read` and
/// `also_written` are the loop's operands and results.
std::shared_ptr<const CollectiveWork> make_reduced_steps(const CollectiveShape& shape,
                                                         FusedPlan plan, std::size_t sum);

}  // namespace shard
