#pragma once
// A collective whose group is on several hosts, as one of them does it: stages of work on what the
// host has, and between two stages an exchange of bytes with the others. Sums are added in the
// order of the hierarchical route, so the bits are those of the same hosts in one process.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/block_pool.h"
#include "exec/collective.h"
#include "exec/route.h"
#include "exec/transport.h"

namespace shard {

/// A group's members by host: `numbers[i]` is the host that has the members `members[i]`.
struct HostedGroup {
  MembersByHost members;
  std::vector<int> numbers;  ///< ascending
  std::size_t self = 0;      ///< this host's place among them
};

/// Parcels of one exchange, without what else an exchange needs.
struct Crossing {
  std::vector<Parcel> sent, received;
};

/// For one group, which meets again and again. Between `begin` and `end` it has the bytes that
/// cross.
class HostedCollective {
 public:
  virtual ~HostedCollective() = default;

  virtual void begin(BlockPool& pool) = 0;
  virtual void end(BlockPool& pool) = 0;
  virtual int stages() const = 0;
  virtual std::int64_t segment_count() const = 0;  ///< of every stage
  /// `members` has the places of this host's members; those of others are not looked at. Segments
  /// of a stage need no order among themselves. `elements` of all stages together are those of the
  /// whole group, links those of messages that arrive here.
  virtual SegmentWork run(int stage, std::int64_t segment,
                          std::span<const MemberPlace> members) = 0;
  /// What crosses when all segments of `stage` are done, before the next stage.
  virtual Crossing crossing(int stage) = 0;
};

/// The work for every kind and dtype; there are at least two hosts.
std::shared_ptr<HostedCollective> make_hosted_collective(const CollectiveShape& shape,
                                                         HostedGroup group);

}  // namespace shard
