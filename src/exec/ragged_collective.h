#pragma once
// A ragged_all_to_all between devices: what is sent, and how much, the members' lists say when they
// meet.

#include <memory>

#include "exec/collective.h"
#include "exec/hosted_collective.h"

namespace shard {

/// Each slice goes straight to where it belongs, whatever the algorithm. `counts_links`: what goes
/// over the links is counted, a message for each slice.
std::unique_ptr<CollectiveWork> make_ragged_collective(const CollectiveShape& shape,
                                                       bool counts_links);

/// The same of a group on several hosts, in two crossings: all lists, by which every host checks
/// all, then the rows.
std::shared_ptr<HostedCollective> make_hosted_ragged(const CollectiveShape& shape,
                                                     HostedGroup group);

}  // namespace shard
