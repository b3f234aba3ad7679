#include "exec/collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/reduce_streams.h"

namespace shard {
namespace {

using Made = std::unique_ptr<CollectiveWork>;

/// Bytes of one member that a segment covers: small enough that all members' parts stay in the
/// second-level cache, large enough that taking a segment costs nothing beside it.
constexpr std::int64_t segment_bytes = std::int64_t{1} << 16;

std::int64_t elements_of(const TensorType& type) { return element_count(type.shape); }
std::int64_t width_of(const TensorType& type) { return info(type.dtype).bytes; }

std::int64_t dims_product(const Shape& shape, int from, int to) {
  std::int64_t product = 1;
  for (int i = from; i < to; ++i) product *= shape[static_cast<std::size_t>(i)];
  return product;
}

/// [begin, end) of `total` things cut into pieces of `step`.
struct Cut {
  std::int64_t total = 0;
  std::int64_t step = 1;

  std::int64_t count() const { return (total + step - 1) / step; }
  std::int64_t begin(std::int64_t piece) const { return piece * step; }
  std::int64_t end(std::int64_t piece) const { return std::min(total, (piece + 1) * step); }
};

Cut cut_elements(std::int64_t total, std::int64_t width) { return {total, segment_bytes / width}; }

/// Every member gets the sum of all: each element is read once and written once per member.
class AllReduce : public CollectiveWork {
 public:
  AllReduce(const CollectiveShape& shape, const StreamReduction& reduce)
      : reduce_(reduce),
        width_(width_of(shape.operand)),
        cut_(cut_elements(elements_of(shape.operand), width_)) {}

  std::int64_t segment_count() const override { return cut_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int> order) const override {
    const std::int64_t begin = cut_.begin(segment), count = cut_.end(segment) - begin;
    StreamPlaces places;
    for (const int member : order) {
      const MemberPlace& place = members[static_cast<std::size_t>(member)];
      places.in.push_back(place.operand + begin * width_);
      places.out.push_back(place.result + begin * width_);
    }
    reduce_(places, count);
    const std::int64_t n = static_cast<std::int64_t>(members.size());
    return {n * count, 2 * n * count * width_};
  }

 private:
  StreamReduction reduce_;
  std::int64_t width_;
  Cut cut_;
};

/// Member m gets block m, along the split dim, of the sum. Operands are [outer, members, block].
class ReduceScatter : public CollectiveWork {
 public:
  ReduceScatter(const CollectiveShape& shape, const StreamReduction& reduce)
      : reduce_(reduce),
        width_(width_of(shape.operand)),
        members_(shape.members),
        block_(dims_product(shape.result.shape, shape.dim, shape.result.rank())),
        cut_(cut_elements(elements_of(shape.operand), width_)) {}

  std::int64_t segment_count() const override { return cut_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int> order) const override {
    const std::int64_t end = cut_.end(segment);
    StreamPlaces places;
    for (std::int64_t at = cut_.begin(segment); at < end;) {
      const std::int64_t inside = at % block_, run = at / block_;
      const std::int64_t count = std::min(end - at, block_ - inside);
      const std::size_t owner = static_cast<std::size_t>(run % members_);
      places.in.clear();
      for (const int member : order) {
        places.in.push_back(members[static_cast<std::size_t>(member)].operand + at * width_);
      }
      places.out = {members[owner].result + (run / members_ * block_ + inside) * width_};
      reduce_(places, count);
      at += count;
    }
    const std::int64_t elements = end - cut_.begin(segment);
    return {members_ * elements, (members_ + 1) * elements * width_};
  }

 private:
  StreamReduction reduce_;
  std::int64_t width_;
  std::int64_t members_;
  std::int64_t block_;
  Cut cut_;
};

/// Every member gets all operands, joined along a dim. Results are [outer, members, block]; each
/// piece is read once and written to every member.
class AllGather : public CollectiveWork {
 public:
  explicit AllGather(const CollectiveShape& shape)
      : width_(width_of(shape.operand)),
        members_(shape.members),
        block_(dims_product(shape.operand.shape, shape.dim, shape.operand.rank())),
        cut_(cut_elements(elements_of(shape.result), width_)) {}

  std::int64_t segment_count() const override { return cut_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    const std::int64_t end = cut_.end(segment);
    for (std::int64_t at = cut_.begin(segment); at < end;) {
      const std::int64_t inside = at % block_, run = at / block_;
      const std::int64_t count = std::min(end - at, block_ - inside);
      const std::byte* from = members[static_cast<std::size_t>(run % members_)].operand +
                              (run / members_ * block_ + inside) * width_;
      for (const MemberPlace& member : members) {
        std::memcpy(member.result + at * width_, from, static_cast<std::size_t>(count * width_));
      }
      at += count;
    }
    const std::int64_t elements = end - cut_.begin(segment);
    return {members_ * elements, (members_ + 1) * elements * width_};
  }

 private:
  std::int64_t width_;
  std::int64_t members_;
  std::int64_t block_;
  Cut cut_;
};

/// Member m gets block m, along the split dim, of every member, joined along the other dim. Runs
/// are the longest pieces that are contiguous on both sides.
class AllToAll : public CollectiveWork {
 public:
  explicit AllToAll(const CollectiveShape& shape)
      : members_(shape.members), splits_first_(shape.split_dim < shape.dim) {
    const Shape& in = shape.operand.shape;
    const int first = std::min(shape.dim, shape.split_dim);
    const int second = std::max(shape.dim, shape.split_dim);
    outer_ = dims_product(in, 0, first);
    middle_ = dims_product(in, first + 1, second);
    first_ = in[static_cast<std::size_t>(first)] / (splits_first_ ? members_ : 1);
    second_ = in[static_cast<std::size_t>(second)] / (splits_first_ ? 1 : members_);
    width_ = width_of(shape.operand);
    run_ = second_ * dims_product(in, second + 1, shape.operand.rank());
    const std::int64_t runs = members_ * members_ * outer_ * first_ * middle_;
    // A segment covers about `segment_bytes` per member.
    cut_ = {runs, std::max<std::int64_t>(1, segment_bytes * members_ / (run_ * width_))};
  }

  std::int64_t segment_count() const override { return cut_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    const std::int64_t begin = cut_.begin(segment), end = cut_.end(segment);
    for (std::int64_t at = begin; at < end; ++at) copy_run(at, members);
    const std::int64_t elements = (end - begin) * run_;
    return {elements, 2 * elements * width_};
  }

 private:
  /// Run number `at` counts [to][from][outer][first][middle].
  void copy_run(std::int64_t at, std::span<const MemberPlace> members) const {
    const std::int64_t middle = at % middle_;
    const std::int64_t first = at / middle_ % first_;
    const std::int64_t outer = at / (middle_ * first_) % outer_;
    const std::int64_t pair = at / (middle_ * first_ * outer_);
    const std::int64_t to = pair / members_, from = pair % members_;
    // The split dim has `members` blocks in the operand, the other has them in the result.
    const std::int64_t many = first_ * members_;
    std::int64_t in, out;  // in runs
    if (splits_first_) {
      in = (outer * many + to * first_ + first) * middle_ + middle;
      out = ((outer * first_ + first) * middle_ + middle) * members_ + from;
    } else {
      in = ((outer * first_ + first) * middle_ + middle) * members_ + to;
      out = (outer * many + from * first_ + first) * middle_ + middle;
    }
    const std::int64_t bytes = run_ * width_;
    std::memcpy(members[static_cast<std::size_t>(to)].result + out * bytes,
                members[static_cast<std::size_t>(from)].operand + in * bytes,
                static_cast<std::size_t>(bytes));
  }

  std::int64_t members_;
  bool splits_first_;
  std::int64_t outer_ = 1, first_ = 1, middle_ = 1, second_ = 1;
  std::int64_t width_ = 1;
  std::int64_t run_ = 1;
  Cut cut_;
};

/// Member m gets the operand of its source.
class Permute : public CollectiveWork {
 public:
  explicit Permute(const CollectiveShape& shape)
      : source_(shape.source),
        bytes_(bytes_of(shape.operand).count()),
        width_(width_of(shape.operand)),
        pieces_{bytes_, segment_bytes} {}

  std::int64_t segment_count() const override { return pieces_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    const std::int64_t begin = pieces_.begin(segment), bytes = pieces_.end(segment) - begin;
    for (std::size_t m = 0; m < members.size(); ++m) {
      std::memcpy(members[m].result + begin,
                  members[static_cast<std::size_t>(source_[m])].operand + begin,
                  static_cast<std::size_t>(bytes));
    }
    const std::int64_t all = bytes * static_cast<std::int64_t>(members.size());
    return {all / width_, 2 * all};
  }

 private:
  std::vector<int> source_;
  std::int64_t bytes_;
  std::int64_t width_;
  Cut pieces_;
};

/// Every member gets its window of the array that all of them hold, and zeros beyond its ends.
class FetchWindow : public CollectiveWork {
 public:
  explicit FetchWindow(const CollectiveShape& shape)
      : members_(shape.members),
        part_(shape.operand.shape[static_cast<std::size_t>(shape.dim)]),
        size_(shape.window->size),
        inner_(dims_product(shape.operand.shape, shape.dim + 1, shape.operand.rank())),
        width_(width_of(shape.operand)) {
    plan(*shape.window);
    const std::int64_t row = std::max<std::int64_t>(1, size_ * inner_ * width_);
    cut_ = {dims_product(shape.operand.shape, 0, shape.dim),
            std::max<std::int64_t>(1, segment_bytes / row)};
  }

  std::int64_t segment_count() const override { return cut_.count(); }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    std::vector<std::int64_t> sent(members.size(), 0);
    std::int64_t copied = 0;
    for (std::int64_t row = cut_.begin(segment); row < cut_.end(segment); ++row) {
      for (const Gap& gap : gaps_) {
        std::memset(result_at(members, gap.to, row, gap.at), 0, bytes_of_run(gap.count));
      }
      for (const Piece& piece : pieces_) {
        const MemberPlace& from = members[piece.from];
        std::memcpy(result_at(members, piece.to, row, piece.out),
                    from.operand + (row * part_ + piece.in) * inner_ * width_,
                    bytes_of_run(piece.count));
        copied += piece.count * inner_;
        if (piece.from != piece.to) sent[piece.from] += piece.count * inner_;
      }
    }
    const std::int64_t most = *std::max_element(sent.begin(), sent.end());
    return {most * members_, 2 * copied * width_};
  }

 private:
  struct Piece {
    std::size_t from = 0, to = 0;
    std::int64_t in = 0, out = 0, count = 0;  ///< along the dim
  };
  struct Gap {
    std::size_t to = 0;
    std::int64_t at = 0, count = 0;
  };

  void plan(const PartWindow& window) {
    for (std::int64_t from = 0; part_ > 0 && from < members_; ++from) {
      const PositionRange among = receivers(window, part_, members_, from);
      for (std::int64_t to = among.first; to < among.last; ++to) {
        const PositionRange range = fetched(window, part_, from, to);
        if (range.count() == 0) continue;
        pieces_.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to),
                           range.first - from * part_, range.first - window.begin(to),
                           range.count()});
      }
    }
    for (std::int64_t to = 0; to < members_; ++to) {
      const std::int64_t begin = window.begin(to), end = begin + size_;
      const std::int64_t first = std::clamp<std::int64_t>(0, begin, end);
      const std::int64_t last = std::clamp(members_ * part_, first, end);
      if (first > begin) gaps_.push_back({static_cast<std::size_t>(to), 0, first - begin});
      if (end > last) gaps_.push_back({static_cast<std::size_t>(to), last - begin, end - last});
    }
  }

  std::size_t bytes_of_run(std::int64_t count) const {
    return static_cast<std::size_t>(count * inner_ * width_);
  }

  std::byte* result_at(std::span<const MemberPlace> members, std::size_t member, std::int64_t row,
                       std::int64_t at) const {
    return members[member].result + (row * size_ + at) * inner_ * width_;
  }

  std::int64_t members_, part_, size_, inner_, width_;
  std::vector<Piece> pieces_;
  std::vector<Gap> gaps_;
  Cut cut_;
};

Made make_permute(const CollectiveShape& shape) {
  if (shape.window) return std::make_unique<FetchWindow>(shape);
  return std::make_unique<Permute>(shape);
}

template <class Work>
Made make_reducing(const CollectiveShape& shape) {
  return std::make_unique<Work>(shape, stream_reduction(shape.reduction, shape.operand.dtype));
}

template <class Work>
Made make_moving(const CollectiveShape& shape) {
  return std::make_unique<Work>(shape);
}

Made make_slicing(const CollectiveShape&) { SHARD_CHECK(false, "a local slice meets nobody"); }

Bytes wire_all_reduce(std::int64_t bytes, std::int64_t n) { return Bytes(2 * (n - 1) * bytes / n); }
Bytes wire_of_others(std::int64_t bytes, std::int64_t n) { return Bytes((n - 1) * bytes / n); }
Bytes wire_once(std::int64_t bytes, std::int64_t) { return Bytes(bytes); }
Bytes wire_none(std::int64_t, std::int64_t) { return Bytes(0); }

struct CollectiveRow {
  CollectiveKind kind;
  Made (*make)(const CollectiveShape&);
  Bytes (*wire)(std::int64_t bytes, std::int64_t members);
};

// An all_gather is counted by its result, of which every device sends its own part n-1 times.
constexpr std::array<CollectiveRow, 6> rows = {{
    {CollectiveKind::all_reduce, make_reducing<AllReduce>, wire_all_reduce},
    {CollectiveKind::all_gather, make_moving<AllGather>, wire_of_others},
    {CollectiveKind::reduce_scatter, make_reducing<ReduceScatter>, wire_of_others},
    {CollectiveKind::all_to_all, make_moving<AllToAll>, wire_of_others},
    {CollectiveKind::collective_permute, make_permute, wire_once},
    {CollectiveKind::all_slice, make_slicing, wire_none},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind != static_cast<CollectiveKind>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "one row per CollectiveKind, in enum order");

}  // namespace

Bytes wire_of(CollectiveKind kind, Bytes counted, std::int64_t members) {
  return rows[static_cast<std::size_t>(kind)].wire(counted.count(), members);
}

Made make_collective(const CollectiveShape& shape) {
  return rows[static_cast<std::size_t>(shape.kind)].make(shape);
}

}  // namespace shard
