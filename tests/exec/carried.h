#pragma once
// What hosts would send each other, between hosted collectives of one process.

#include <memory>
#include <vector>

#include "exec/hosted_collective.h"

namespace shard::test {

/// Copies what each host sends at the end of a stage to where the others receive it, and checks
/// that every parcel has one sender, one receiver and one size.
void carry(std::vector<std::shared_ptr<HostedCollective>>& hosts, int stage);

}  // namespace shard::test
