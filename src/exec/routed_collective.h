#pragma once
// Collectives that carry every element along an algorithm's messages, as links between machines
// would, and count what each link carries.

#include <memory>

#include "exec/chunked_array.h"
#include "exec/collective.h"
#include "exec/route.h"

namespace shard {

/// An all_reduce, reduce_scatter, all_gather or broadcast along `route`; nothing for other kinds,
/// which send each part straight to where it goes whatever the algorithm (`moving_collective.h`).
/// Partial sums of floats of 8 and 16 bits stay in float32 until the last one; links are counted at
/// the width of the dtype.
std::unique_ptr<CollectiveWork> make_routed_collective(const CollectiveShape& shape,
                                                       const Route& route, RouteGroup group);

/// What of a kind is routed: who has a chunk before and after, and which messages carry it.
struct RoutedKind {
  CollectiveKind kind;
  bool only_owner_starts;  ///< member c alone has chunk c at first
  bool only_owner_ends;    ///< and at last
  RouteSteps (*Route::*steps)(const RouteGroup&, int);
};

/// Nothing where no route is taken.
const RoutedKind* routed_kind(CollectiveKind kind);

/// The array that has all chunks; its parts are the segments.
ChunkedArray routed_array(const CollectiveShape& shape, const RoutedKind& kind, const Route& route,
                          const RouteGroup& group);

/// Counts what the step's sources send for a part.
void add_links(const RouteStep& step, const ChunkPart& part, std::int64_t element_bytes,
               SegmentWork& work);

}  // namespace shard
