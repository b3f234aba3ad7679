#include "exec/moving_collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace shard {
namespace {

/// Bytes of one member that a segment covers, as elsewhere.
constexpr std::int64_t moved_segment_bytes = std::int64_t{1} << 16;

std::int64_t sizes_product(const Shape& shape, int from, int to) {
  std::int64_t product = 1;
  for (int i = from; i < to; ++i) product *= shape[static_cast<std::size_t>(i)];
  return product;
}

/// `total` rows or runs, `step` of them in each segment.
struct SegmentCut {
  std::int64_t total = 0;
  std::int64_t step = 1;

  std::int64_t count() const { return (total + step - 1) / step; }
  std::int64_t begin(std::int64_t segment) const { return segment * step; }
  std::int64_t end(std::int64_t segment) const { return std::min(total, (segment + 1) * step); }
};

/// Done where all members' bytes are at hand, without a call per move.
template <class Moves>
class MovedBy : public MovingCollective {
 public:
  MovedBy(const CollectiveShape& shape, bool counts_links)
      : moves_(shape), counts_links_(counts_links) {}

  std::int64_t segment_count() const override { return moves_.cut().count(); }
  std::int64_t elements(std::int64_t segment) const override { return moves_.elements(segment); }

  void for_each_move(std::int64_t segment,
                     const std::function<void(const Move&)>& visit) const override {
    moves_.visit(segment, visit);
  }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    SegmentWork work;
    work.elements = moves_.elements(segment);
    moves_.visit(segment, [&](const Move& move) {
      const std::size_t count = static_cast<std::size_t>(move.count);
      std::byte* const to = members[static_cast<std::size_t>(move.to)].result + move.out;
      if (move.from == Move::zeros) {
        std::memset(to, 0, count);
        return;
      }
      std::memcpy(to, members[static_cast<std::size_t>(move.from)].operand + move.in, count);
      work.copied += 2 * move.count;
      if (counts_links_) add_link(move, work);
    });
    return work;
  }

 private:
  Moves moves_;
  bool counts_links_;
};

/// Member m gets block m, along the split dim, of every member, joined along the other dim. Runs
/// are the longest pieces that are contiguous on both sides.
class ExchangeMoves {
 public:
  explicit ExchangeMoves(const CollectiveShape& shape)
      : members_(shape.members), splits_first_(shape.split_dim < shape.dim) {
    const Shape& in = shape.operand.shape;
    const int first = std::min(shape.dim, shape.split_dim);
    const int second = std::max(shape.dim, shape.split_dim);
    outer_ = sizes_product(in, 0, first);
    middle_ = sizes_product(in, first + 1, second);
    first_ = in[static_cast<std::size_t>(first)] / (splits_first_ ? members_ : 1);
    const std::int64_t columns =
        in[static_cast<std::size_t>(second)] / (splits_first_ ? 1 : members_);
    run_ = columns * sizes_product(in, second + 1, shape.operand.rank());
    bytes_ = run_ * info(shape.operand.dtype).bytes;
    const std::int64_t runs = members_ * members_ * outer_ * first_ * middle_;
    // A segment covers about `moved_segment_bytes` per member.
    cut_ = {runs, std::max<std::int64_t>(1, moved_segment_bytes * members_ / bytes_)};
  }

  const SegmentCut& cut() const { return cut_; }
  std::int64_t elements(std::int64_t segment) const {
    return (cut_.end(segment) - cut_.begin(segment)) * run_;
  }

  template <class Visit>
  void visit(std::int64_t segment, const Visit& visit) const {
    for (std::int64_t at = cut_.begin(segment); at < cut_.end(segment); ++at) visit(move(at));
  }

 private:
  /// Run number `at` counts [to][from][outer][first][middle].
  Move move(std::int64_t at) const {
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
    return {static_cast<int>(from),
            static_cast<int>(to),
            in * bytes_,
            out * bytes_,
            bytes_,
            at % (middle_ * first_ * outer_) == 0};
  }

  std::int64_t members_;
  bool splits_first_;
  std::int64_t outer_ = 1, first_ = 1, middle_ = 1;
  std::int64_t run_ = 1;    ///< elements
  std::int64_t bytes_ = 1;  ///< of a run
  SegmentCut cut_;
};

/// Member m gets the operand of its source, or zeros.
class SourceMoves {
 public:
  explicit SourceMoves(const CollectiveShape& shape)
      : source_(shape.source),
        width_(info(shape.operand.dtype).bytes),
        cut_{bytes_of(shape.operand).count(), moved_segment_bytes} {
    for (std::size_t m = 0; m < source_.size(); ++m) {
      const bool stays = source_[m] == Move::zeros || source_[m] == static_cast<int>(m);
      is_sent_ = is_sent_ || !stays;
    }
  }

  const SegmentCut& cut() const { return cut_; }
  /// A permute's payload is that of the member that sends most: all it has, or nothing.
  std::int64_t elements(std::int64_t segment) const {
    if (!is_sent_) return 0;
    return (cut_.end(segment) - cut_.begin(segment)) * static_cast<std::int64_t>(source_.size()) /
           width_;
  }

  template <class Visit>
  void visit(std::int64_t segment, const Visit& visit) const {
    const std::int64_t begin = cut_.begin(segment), count = cut_.end(segment) - begin;
    for (std::size_t m = 0; m < source_.size(); ++m) {
      visit(Move{source_[m], static_cast<int>(m), begin, begin, count, begin == 0});
    }
  }

 private:
  std::vector<int> source_;
  std::int64_t width_;
  bool is_sent_ = false;  ///< some member's operand goes to another one
  SegmentCut cut_;
};

/// Every member gets its window of the array that all of them hold, and zeros beyond its ends.
class WindowMoves {
 public:
  explicit WindowMoves(const CollectiveShape& shape)
      : members_(shape.members),
        part_(shape.operand.shape[static_cast<std::size_t>(shape.dim)]),
        size_(shape.window->size),
        inner_(sizes_product(shape.operand.shape, shape.dim + 1, shape.operand.rank())),
        inner_bytes_(inner_ * info(shape.operand.dtype).bytes) {
    plan(*shape.window);
    const std::int64_t row = std::max<std::int64_t>(1, size_ * inner_bytes_);
    cut_ = {sizes_product(shape.operand.shape, 0, shape.dim),
            std::max<std::int64_t>(1, moved_segment_bytes / row)};
  }

  const SegmentCut& cut() const { return cut_; }
  /// A permute's payload is that of the member that sends most.
  std::int64_t elements(std::int64_t segment) const {
    return (cut_.end(segment) - cut_.begin(segment)) * most_ * inner_ * members_;
  }

  template <class Visit>
  void visit(std::int64_t segment, const Visit& visit) const {
    for (std::int64_t row = cut_.begin(segment); row < cut_.end(segment); ++row) {
      for (const Piece& piece : pieces_) {
        const std::int64_t in = piece.from == Move::zeros ? 0 : row * part_ + piece.in;
        visit(Move{piece.from, piece.to, in * inner_bytes_,
                   (row * size_ + piece.out) * inner_bytes_, piece.count * inner_bytes_, row == 0});
      }
    }
  }

 private:
  struct Piece {
    int from = 0, to = 0;
    std::int64_t in = 0, out = 0, count = 0;  ///< along the dim
  };

  void plan(const PartWindow& window) {
    for (std::int64_t to = 0; to < members_; ++to) plan_zeros(window, to);
    for (std::int64_t from = 0; part_ > 0 && from < members_; ++from) {
      const PositionRange among = receivers(window, part_, members_, from);
      std::int64_t sent = 0;
      for (std::int64_t to = among.first; to < among.last; ++to) {
        const PositionRange range = fetched(window, part_, from, to);
        if (range.count() == 0) continue;
        pieces_.push_back({static_cast<int>(from), static_cast<int>(to), range.first - from * part_,
                           range.first - window.begin(to), range.count()});
        if (from != to) sent += range.count();
      }
      most_ = std::max(most_, sent);
    }
  }

  void plan_zeros(const PartWindow& window, std::int64_t to) {
    const std::int64_t begin = window.begin(to), end = begin + size_;
    const std::int64_t first = std::clamp<std::int64_t>(0, begin, end);
    const std::int64_t last = std::clamp(members_ * part_, first, end);
    const int member = static_cast<int>(to);
    if (first > begin) pieces_.push_back({Move::zeros, member, 0, 0, first - begin});
    if (end > last) pieces_.push_back({Move::zeros, member, 0, last - begin, end - last});
  }

  std::int64_t members_, part_, size_;
  std::int64_t inner_, inner_bytes_;  ///< of one position along the dim
  std::int64_t most_ = 0;             ///< positions that one member sends to others
  std::vector<Piece> pieces_;
  SegmentCut cut_;
};

}  // namespace

void add_link(const Move& move, SegmentWork& work) {
  if (!move.is_sent()) return;
  const bool goes_on =
      !work.links.empty() && work.links.back().from == move.from && work.links.back().to == move.to;
  if (!goes_on) work.links.push_back({move.from, move.to, 0, 0});
  work.links.back().messages += move.starts_message ? 1 : 0;
  work.links.back().bytes += move.count;
}

std::unique_ptr<MovingCollective> make_moving_collective(const CollectiveShape& shape,
                                                         bool counts_links) {
  if (shape.kind == CollectiveKind::all_to_all) {
    return std::make_unique<MovedBy<ExchangeMoves>>(shape, counts_links);
  }
  if (shape.window) return std::make_unique<MovedBy<WindowMoves>>(shape, counts_links);
  if (!shape.source.empty()) return std::make_unique<MovedBy<SourceMoves>>(shape, counts_links);
  return nullptr;
}

}  // namespace shard
