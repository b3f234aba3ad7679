#include "exec/routed_collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "exec/element.h"
#include "exec/reduce_streams.h"

namespace shard {
namespace {

/// All members' buffers of a segment together: they stay in the second-level cache.
constexpr std::int64_t buffers_bytes = std::int64_t{1} << 18;

/// What of a kind is routed: who has a chunk before and after, and which messages carry it.
struct RoutedKind {
  CollectiveKind kind;
  bool only_owner_starts;  ///< member c alone has chunk c at first
  bool only_owner_ends;    ///< and at last
  RouteSteps (*Route::*steps)(const RouteGroup&, int);
};

constexpr std::array<RoutedKind, 3> routed_kinds = {{
    {CollectiveKind::all_reduce, false, false, &Route::all_reduce},
    {CollectiveKind::reduce_scatter, false, true, &Route::reduce_scatter},
    {CollectiveKind::all_gather, true, false, &Route::all_gather},
}};

/// Elements [begin, begin + count) of a chunk.
struct ChunkPart {
  int chunk = 0;
  std::int64_t begin = 0, count = 0;
  bool starts_chunk = false;
};

class RoutedCollective : public CollectiveWork {
 public:
  RoutedCollective(const CollectiveShape& shape, const RoutedKind& kind, const Route& route,
                   RouteGroup group)
      : kind_(kind),
        steps_(route.*kind.steps),
        group_(std::move(group)),
        dtype_(shape.operand.dtype) {
    const bool is_cut_by_dim = kind.only_owner_starts || kind.only_owner_ends;
    const TensorType& part = kind.only_owner_ends ? shape.result : shape.operand;
    total_ = element_count(part.shape) * (is_cut_by_dim ? group_.members : 1);
    chunks_ = is_cut_by_dim ? group_.members : route.chunks(group_);
    if (is_cut_by_dim) block_ = elements_of_block(part, shape.dim);
    if (!kind.only_owner_starts) {
      if (adds_in_f32(dtype_))
        buffer_dtype_ = DType::f32;
      else
        buffer_dtype_ = dtype_;
      reduce_ = stream_reduction(shape.reduction, buffer_dtype_);
    } else {
      buffer_dtype_ = dtype_;
    }
    width_ = info(dtype_).bytes;
    buffer_width_ = info(buffer_dtype_).bytes;
    step_ = std::max<std::int64_t>(1, buffers_bytes / (group_.members * buffer_width_));
    pieces_ = std::max<std::int64_t>(1, (chunk_begin(1) + step_ - 1) / step_);
  }

  std::int64_t segment_count() const override { return chunks_ * pieces_; }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    const ChunkPart part = part_of(segment);
    if (part.count == 0) return {};
    SegmentWork work;
    work.elements = group_.members * part.count;
    std::vector<std::byte> buffers(
        static_cast<std::size_t>(group_.members * part.count * buffer_width_));
    for (int m = 0; m < group_.members; ++m) {
      if (kind_.only_owner_starts && m != part.chunk) continue;
      load(part, members[static_cast<std::size_t>(m)].operand, buffer(buffers, part, m));
      work.copied += 2 * part.count * width_;
    }
    for (const RouteStep& step : steps_(group_, part.chunk)) {
      carry(step, part, buffers, work);
    }
    for (int m = 0; m < group_.members; ++m) {
      if (kind_.only_owner_ends && m != part.chunk) continue;
      store(part, buffer(buffers, part, m), members[static_cast<std::size_t>(m)].result);
      work.copied += 2 * part.count * width_;
    }
    return work;
  }

 private:
  static std::int64_t elements_of_block(const TensorType& part, int dim) {
    std::int64_t block = 1;
    for (std::size_t i = static_cast<std::size_t>(dim); i < part.shape.size(); ++i) {
      block *= part.shape[i];
    }
    return block;
  }

  /// The larger chunks come first, so that an empty one is never before one that is not.
  std::int64_t chunk_begin(int chunk) const {
    return total_ / chunks_ * chunk + std::min<std::int64_t>(chunk, total_ % chunks_);
  }

  ChunkPart part_of(std::int64_t segment) const {
    const int chunk = static_cast<int>(segment / pieces_);
    const std::int64_t size = chunk_begin(chunk + 1) - chunk_begin(chunk);
    const std::int64_t begin = std::min(size, segment % pieces_ * step_);
    return {chunk, begin, std::min(step_, size - begin), begin == 0};
  }

  std::byte* buffer(std::vector<std::byte>& buffers, const ChunkPart& part, int member) const {
    return buffers.data() + member * part.count * buffer_width_;
  }

  /// Visits the contiguous pieces of a part in the array that has all chunks: `[outer, chunk,
  /// block]` where chunks are cut along a dim.
  template <class Visit>
  void for_each_piece(const ChunkPart& part, const Visit& visit) const {
    if (block_ == 0) return visit(chunk_begin(part.chunk) + part.begin, 0, part.count);
    for (std::int64_t done = 0; done < part.count;) {
      const std::int64_t at = part.begin + done, inside = at % block_;
      const std::int64_t count = std::min(part.count - done, block_ - inside);
      visit((at / block_ * chunks_ + part.chunk) * block_ + inside, done, count);
      done += count;
    }
  }

  void widen(const std::byte* from, std::byte* to, std::int64_t count) const {
    if (buffer_dtype_ == dtype_) {
      std::memcpy(to, from, static_cast<std::size_t>(count * width_));
    } else {
      widen_floats(dtype_, from, reinterpret_cast<float*>(to), static_cast<std::size_t>(count));
    }
  }

  void narrow(const std::byte* from, std::byte* to, std::int64_t count) const {
    if (buffer_dtype_ == dtype_) {
      std::memcpy(to, from, static_cast<std::size_t>(count * width_));
    } else {
      round_floats(reinterpret_cast<const float*>(from), dtype_, to,
                   static_cast<std::size_t>(count));
    }
  }

  void load(const ChunkPart& part, const std::byte* operand, std::byte* to) const {
    if (kind_.only_owner_starts) return widen(operand + part.begin * width_, to, part.count);
    for_each_piece(part, [&](std::int64_t at, std::int64_t done, std::int64_t count) {
      widen(operand + at * width_, to + done * buffer_width_, count);
    });
  }

  void store(const ChunkPart& part, const std::byte* from, std::byte* result) const {
    if (kind_.only_owner_ends) return narrow(from, result + part.begin * width_, part.count);
    for_each_piece(part, [&](std::int64_t at, std::int64_t done, std::int64_t count) {
      narrow(from + done * buffer_width_, result + at * width_, count);
    });
  }

  void carry(const RouteStep& step, const ChunkPart& part, std::vector<std::byte>& buffers,
             SegmentWork& work) const {
    std::byte* const to = buffer(buffers, part, step.to);
    if (step.sources.size() == 1) {
      std::memcpy(to, buffer(buffers, part, step.sources.front()),
                  static_cast<std::size_t>(part.count * buffer_width_));
    } else {
      StreamPlaces places;
      for (const int source : step.sources) places.in.push_back(buffer(buffers, part, source));
      places.out = {to};
      reduce_(places, part.count);
    }
    const std::int64_t sources = static_cast<std::int64_t>(step.sources.size());
    work.copied += (sources + 1) * part.count * buffer_width_;
    const std::int64_t message = step.starts_message && part.starts_chunk ? 1 : 0;
    for (const int source : step.sources) {
      if (source != step.to) work.links.push_back({source, step.to, message, part.count * width_});
    }
  }

  RoutedKind kind_;
  RouteSteps (*steps_)(const RouteGroup&, int);
  RouteGroup group_;
  DType dtype_;
  DType buffer_dtype_ = DType::f32;
  StreamReduction reduce_;
  std::int64_t total_ = 0;  ///< elements of the array that has all chunks
  std::int64_t chunks_ = 1;
  std::int64_t block_ = 0;  ///< elements of a chunk that are contiguous there; 0: all
  std::int64_t width_ = 1, buffer_width_ = 1;
  std::int64_t step_ = 1;    ///< elements of a segment
  std::int64_t pieces_ = 1;  ///< segments of a chunk
};

}  // namespace

std::unique_ptr<CollectiveWork> make_routed_collective(const CollectiveShape& shape,
                                                       const Route& route, RouteGroup group) {
  const auto kind = std::find_if(routed_kinds.begin(), routed_kinds.end(),
                                 [&](const RoutedKind& row) { return row.kind == shape.kind; });
  if (kind == routed_kinds.end()) return nullptr;
  return std::make_unique<RoutedCollective>(shape, *kind, route, std::move(group));
}

}  // namespace shard
