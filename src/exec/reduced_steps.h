#pragma once
// An all_reduce with the loop that alone reads its result done by the same workers, part by part:
// whoever adds a part of the members' arrays runs the loop's steps on it for every member while it
// is in the cache. Where a product of few terms makes what is added and nobody else reads it, its
// part is computed there as well. The sum is never stored, nor the product: of a gradient and an
// optimizer's update this leaves out all writes and reads of gradients. The bits are those of one
// after the other.

#include <memory>
#include <optional>

#include "exec/collective.h"
#include "exec/dot_kernel.h"
#include "exec/fused_plan.h"

namespace shard {

/// False of a loop by rows, and of one that reads the sum at other points than its own.
bool can_follow_reduction(const FusedPlan& plan, std::size_t sum);

/// False of a product whose rows are too long to be made part by part.
bool can_be_reduced_by_part(const ProductByRows& product, const FusedPlan& plan);
/// The same where no loop follows; also false of few members, whose arrays are added side by side.
bool can_be_reduced_by_part(const ProductByRows& product, std::int64_t members);

/// The work; operand `sum` of the loop is the all_reduce's result. A member's `also_read` and
/// `also_written` are the loop's operands and results; the operands of the product, where there is
/// one, follow those of the loop. The all_reduce's operand is then read only when somebody looks.
std::shared_ptr<const CollectiveWork> make_reduced_steps(const CollectiveShape& shape,
                                                         FusedPlan plan, std::size_t sum,
                                                         std::optional<ProductByRows> product = {});

/// The same without a loop: the sum goes to all members' results. The operands of the product are a
/// member's `also_read`.
std::shared_ptr<const CollectiveWork> make_reduced_product(const CollectiveShape& shape,
                                                           ProductByRows product);

}  // namespace shard
