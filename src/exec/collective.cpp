#include "exec/collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/moving_collective.h"
#include "exec/ragged_collective.h"
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
    reduce_(places_from(members, order, begin * width_), count);
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

template <class Work>
Made make_reducing(const CollectiveShape& shape) {
  return std::make_unique<Work>(shape, stream_reduction(shape.reduction, shape.operand.dtype));
}

Made make_gathering(const CollectiveShape& shape) { return std::make_unique<AllGather>(shape); }
Made make_moving(const CollectiveShape& shape) { return make_moving_collective(shape); }

Made make_ragged(const CollectiveShape& shape) { return make_ragged_collective(shape, false); }

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
constexpr std::array<CollectiveRow, 8> collective_rows = {{
    {CollectiveKind::all_reduce, make_reducing<AllReduce>, wire_all_reduce},
    {CollectiveKind::all_gather, make_gathering, wire_of_others},
    {CollectiveKind::reduce_scatter, make_reducing<ReduceScatter>, wire_of_others},
    {CollectiveKind::all_to_all, make_moving, wire_of_others},
    {CollectiveKind::collective_permute, make_moving, wire_once},
    {CollectiveKind::collective_broadcast, make_moving, wire_once},
    {CollectiveKind::ragged_all_to_all, make_ragged, wire_once},
    {CollectiveKind::all_slice, make_slicing, wire_none},
}};

constexpr bool collectives_in_enum_order() {
  for (std::size_t i = 0; i < collective_rows.size(); ++i) {
    if (collective_rows[i].kind != static_cast<CollectiveKind>(i)) return false;
  }
  return true;
}
static_assert(collectives_in_enum_order(), "one row per CollectiveKind, in enum order");

}  // namespace

Bytes wire_of(CollectiveKind kind, Bytes counted, std::int64_t members) {
  return collective_rows[static_cast<std::size_t>(kind)].wire(counted.count(), members);
}

Made make_collective(const CollectiveShape& shape) {
  return collective_rows[static_cast<std::size_t>(shape.kind)].make(shape);
}

}  // namespace shard
