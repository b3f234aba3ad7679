#pragma once
// Collectives that carry every element along an algorithm's messages, as links between machines
// would, and count what each link carries.

#include <memory>

#include "exec/collective.h"
#include "exec/route.h"

namespace shard {

/// An all_reduce, reduce_scatter or all_gather along `route`; nothing for other kinds, which send
/// each part straight to where it goes whatever the algorithm. Partial sums of floats of 8 and 16
/// bits stay in float32 until the last one; links are counted at the width of the dtype.
std::unique_ptr<CollectiveWork> make_routed_collective(const CollectiveShape& shape,
                                                       const Route& route, RouteGroup group);

}  // namespace shard
