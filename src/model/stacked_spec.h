#pragma once
// Names of the dims of an array that is a stack of others, as Flax keeps them (spec section 8.1):
// what `nn.scan`, `nn.vmap` and their NNX twins do to the names of a parameter.
//
//   [embed, hidden]  stacked at 0 as `layer`  [layer, embed, hidden]
//   [a]              stacked at 2 as `l`      [a, None, l]

#include <optional>

#include "base/diagnostic.h"
#include "config/spec.h"

namespace shard {

/// Names up to `index` are filled up with None, then `name` is inserted there. A negative index
/// counts from the end as Python's `list.insert` does: -1 is in front of the last name.
LogicalSpec with_stacked_dim(LogicalSpec names, int index, const std::optional<LogicalAxis>& name);

/// The names of one array of the stack. Throws `Error` `partition-name` when there is no name at
/// `index` (negative: from the end, as `list.pop` counts) or another one than `name`.
LogicalSpec without_stacked_dim(LogicalSpec names, int index,
                                const std::optional<LogicalAxis>& name, const Location& at);

/// The placement of a stack whose new dim is the first one; an unannotated array stays so.
SpecConfig stacked_in_front(SpecConfig spec, const std::optional<LogicalAxis>& name);

}  // namespace shard
