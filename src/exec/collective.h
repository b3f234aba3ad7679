#pragma once
// Collectives over shared memory. When all members of a group have arrived, the work is cut into
// segments that any worker may take; each segment reads and writes its own part of the members'
// arrays, so segments need no order among themselves. Where they are cut depends on the sizes
// alone, and sums are taken in device order: the bits do not depend on the workers.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "exec/scratch.h"
#include "spmd/program.h"

namespace shard {

/// Where a member's operand and result lie.
struct MemberPlace {
  const std::byte* operand = nullptr;
  std::byte* result = nullptr;
  /// Operands behind the first, or those of what is done with the result at once.
  std::vector<const std::byte*> also_read{};
  std::vector<std::byte*> also_written{};
};

/// What was really done: elements of all members' operands (all_gather: results) together, and
/// bytes read and written on their behalf.
struct SegmentWork {
  std::int64_t elements = 0;
  std::int64_t copied = 0;
  /// What one member sent to another; a message is counted by the segment that has its start.
  struct Sent {
    int from = 0, to = 0;
    std::int64_t messages = 0, bytes = 0;
  };
  std::vector<Sent> links{};  ///< nothing where all members' arrays are read in place
  std::int64_t beside = 0;    ///< bytes read and written by what is done with the result at once
};

/// What the worker lends to a segment.
struct SegmentHelp {
  Scratch& scratch;          ///< given back as it was
  bool is_observed = false;  ///< somebody looks at operands and results themselves
};

/// One collective on fixed local types, for groups of a fixed size. Members are in the order of
/// their coordinates on the axes; `order` lists them by device.
class CollectiveWork {
 public:
  virtual ~CollectiveWork() = default;
  virtual std::int64_t segment_count() const = 0;
  virtual SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                          std::span<const int> order) const = 0;
  virtual SegmentWork run_with(const SegmentHelp&, std::int64_t segment,
                               std::span<const MemberPlace> members,
                               std::span<const int> order) const {
    return run(segment, members, order);
  }
};

/// Bytes a device sends with a bandwidth-optimal algorithm for what was counted: `counted` bytes of
/// one member's operand (all_gather: of its result), in a group of `members`.
Bytes wire_of(CollectiveKind kind, Bytes counted, std::int64_t members);

/// Local types of a collective. For a permute, `source` gives per group and member the member whose
/// operand it receives, -1: zeros.
struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Reduction reduction = Reduction::none;
  int dim = -1;
  int split_dim = -1;
  TensorType operand;
  TensorType result;
  int members = 1;
  std::vector<int> source;              ///< collective_permute, collective_broadcast
  std::optional<PartWindow> window{};   ///< collective_permute instead: fetched along `dim`
  std::vector<TensorType> also_read{};  ///< ragged_all_to_all: the operands behind the first
  std::vector<int> devices{};           ///< ragged_all_to_all: the members', for messages
};

/// The work, for every dtype. Local slices are no rendezvous: see `slice_kernel`.
std::unique_ptr<CollectiveWork> make_collective(const CollectiveShape& shape);

}  // namespace shard
