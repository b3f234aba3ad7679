#pragma once
// Reductions and gathers over hosts: what the hierarchical route does within a host is done in
// place, what goes between hosts crosses in one parcel for each.

#include <memory>

#include "exec/hosted_collective.h"

namespace shard {

/// For all_reduce, reduce_scatter and all_gather; nothing for other kinds.
std::shared_ptr<HostedCollective> make_hosted_reduction(const CollectiveShape& shape,
                                                        const HostedGroup& group);

}  // namespace shard
