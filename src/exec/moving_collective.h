#pragma once
// Collectives that only move bytes: each says which bytes of which member's operand go where in
// whose result.

#include <cstdint>
#include <functional>
#include <memory>

#include "exec/collective.h"

namespace shard {

/// Bytes that go from one member's operand to another's result (or its own).
struct Move {
  static constexpr int zeros = -1;  ///< as `from`: the bytes become 0
  int from = 0, to = 0;
  std::int64_t in = 0, out = 0;  ///< where they begin in the operand and in the result
  std::int64_t count = 0;
  bool starts_message = false;  ///< the first that goes from this member to that one

  bool is_sent() const { return from != zeros && from != to; }
};

/// Counts what goes over the link between a move's members.
void add_link(const Move& move, SegmentWork& work);

class MovingCollective : public CollectiveWork {
 public:
  /// The moves of a segment in an order that the shape alone decides. No two of a collective's
  /// moves write the same byte.
  virtual void for_each_move(std::int64_t segment,
                             const std::function<void(const Move&)>& visit) const = 0;
  /// `SegmentWork::elements` of a segment.
  virtual std::int64_t elements(std::int64_t segment) const = 0;
};

/// An all_to_all, a collective_permute (with or without a window) or a broadcast; nothing for other
/// kinds. `counts_links`: every member sends each other one what that gets of it, in one message,
/// and the links are counted.
std::unique_ptr<MovingCollective> make_moving_collective(const CollectiveShape& shape,
                                                         bool counts_links = false);

}  // namespace shard
