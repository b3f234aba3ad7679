#pragma once
// Loops that may be left out: the two ways of a `cond`.
//
// A `repeat` with the attribute `guarded` runs its one round only where its first invariant, a
// truth value, holds; else its carries go out as they came in. All devices have the same truth
// value, so they do the same. Further stacked outputs of a round that is left out are undefined,
// and only read where the same condition lets them be made.

#include "model/graph.h"

namespace shard {

inline bool is_guarded(const Node& node) { return node.attributes.has("guarded"); }

/// The position of the condition among the operands.
inline std::size_t guard_of(const Node& loop) {
  return static_cast<std::size_t>(loop.attributes.integer("carries") +
                                  loop.attributes.integer("stacked"));
}

}  // namespace shard
