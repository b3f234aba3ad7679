#include "exec/routed_collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "exec/chunked_array.h"
#include "exec/reduce_streams.h"

namespace shard {
namespace {

/// All members' buffers of a segment together: they stay in the second-level cache.
constexpr std::int64_t buffers_bytes = std::int64_t{1} << 18;

constexpr std::array<RoutedKind, 4> routed_kinds = {{
    {CollectiveKind::all_reduce, false, false, &Route::all_reduce},
    {CollectiveKind::reduce_scatter, false, true, &Route::reduce_scatter},
    {CollectiveKind::all_gather, true, false, &Route::all_gather},
    {CollectiveKind::collective_broadcast, true, false, &Route::broadcast},
}};

class RoutedCollective : public CollectiveWork {
 public:
  RoutedCollective(const CollectiveShape& shape, const RoutedKind& kind, const Route& route,
                   RouteGroup group)
      : kind_(kind),
        steps_(route.*kind.steps),
        group_(std::move(group)),
        type_(shape.operand.dtype, !kind.only_owner_starts),
        array_(routed_array(shape, kind, route, group_)) {
    if (!kind.only_owner_starts) reduce_ = stream_reduction(shape.reduction, type_.added());
  }

  std::int64_t segment_count() const override { return array_.part_count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    const ChunkPart part = array_.part(segment);
    if (part.count == 0) return {};
    SegmentWork work;
    work.elements = group_.members * part.count;
    std::vector<std::byte> buffers(
        static_cast<std::size_t>(group_.members * part.count * type_.added_width()));
    for (int m = 0; m < group_.members; ++m) {
      if (kind_.only_owner_starts && m != part.chunk) continue;
      load(part, members[static_cast<std::size_t>(m)].operand, buffer(buffers, part, m));
      work.copied += 2 * part.count * type_.stored_width();
    }
    for (const RouteStep& step : steps_(group_, part.chunk)) {
      carry(step, part, buffers, work);
    }
    for (int m = 0; m < group_.members; ++m) {
      if (kind_.only_owner_ends && m != part.chunk) continue;
      store(part, buffer(buffers, part, m), members[static_cast<std::size_t>(m)].result);
      work.copied += 2 * part.count * type_.stored_width();
    }
    return work;
  }

 private:
  std::byte* buffer(std::vector<std::byte>& buffers, const ChunkPart& part, int member) const {
    return buffers.data() + member * part.count * type_.added_width();
  }

  void load(const ChunkPart& part, const std::byte* operand, std::byte* to) const {
    if (kind_.only_owner_starts) {
      return type_.widen(operand + part.begin * type_.stored_width(), to, part.count);
    }
    array_.for_each_piece(part, [&](std::int64_t at, std::int64_t done, std::int64_t count) {
      type_.widen(operand + at * type_.stored_width(), to + done * type_.added_width(), count);
    });
  }

  void store(const ChunkPart& part, const std::byte* from, std::byte* result) const {
    if (kind_.only_owner_ends) {
      return type_.narrow(from, result + part.begin * type_.stored_width(), part.count);
    }
    array_.for_each_piece(part, [&](std::int64_t at, std::int64_t done, std::int64_t count) {
      type_.narrow(from + done * type_.added_width(), result + at * type_.stored_width(), count);
    });
  }

  void carry(const RouteStep& step, const ChunkPart& part, std::vector<std::byte>& buffers,
             SegmentWork& work) const {
    std::byte* const to = buffer(buffers, part, step.to);
    const std::int64_t bytes = part.count * type_.added_width();
    if (step.sources.size() == 1) {
      std::memcpy(to, buffer(buffers, part, step.sources.front()), static_cast<std::size_t>(bytes));
    } else {
      StreamPlaces places;
      for (const int source : step.sources) places.in.push_back(buffer(buffers, part, source));
      places.out = {to};
      reduce_(places, part.count);
    }
    work.copied += (static_cast<std::int64_t>(step.sources.size()) + 1) * bytes;
    add_links(step, part, type_.stored_width(), work);
  }

  RoutedKind kind_;
  RouteSteps (*steps_)(const RouteGroup&, int);
  RouteGroup group_;
  AddingType type_;
  ChunkedArray array_;
  StreamReduction reduce_;
};

}  // namespace

const RoutedKind* routed_kind(CollectiveKind kind) {
  const auto row = std::find_if(routed_kinds.begin(), routed_kinds.end(),
                                [&](const RoutedKind& one) { return one.kind == kind; });
  return row == routed_kinds.end() ? nullptr : &*row;
}

ChunkedArray routed_array(const CollectiveShape& shape, const RoutedKind& kind, const Route& route,
                          const RouteGroup& group) {
  const AddingType type(shape.operand.dtype, !kind.only_owner_starts);
  const std::int64_t step =
      std::max<std::int64_t>(1, buffers_bytes / (group.members * type.added_width()));
  if (!kind.only_owner_starts && !kind.only_owner_ends) {
    return ChunkedArray::stretches(element_count(shape.operand.shape), route.chunks(group), step);
  }
  if (kind.kind == CollectiveKind::collective_broadcast) {
    return ChunkedArray::only(element_count(shape.operand.shape), group.members,
                              shape.source.front(), step);
  }
  const TensorType& part = kind.only_owner_ends ? shape.result : shape.operand;
  return ChunkedArray::blocks(part, shape.dim, group.members, step);
}

void add_links(const RouteStep& step, const ChunkPart& part, std::int64_t element_bytes,
               SegmentWork& work) {
  const std::int64_t message = step.starts_message && part.starts_chunk ? 1 : 0;
  for (const int source : step.sources) {
    if (source != step.to) {
      work.links.push_back({source, step.to, message, part.count * element_bytes});
    }
  }
}

std::unique_ptr<CollectiveWork> make_routed_collective(const CollectiveShape& shape,
                                                       const Route& route, RouteGroup group) {
  const RoutedKind* const kind = routed_kind(shape.kind);
  if (kind == nullptr) return nullptr;
  return std::make_unique<RoutedCollective>(shape, *kind, route, std::move(group));
}

}  // namespace shard
