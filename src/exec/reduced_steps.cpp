#include "exec/reduced_steps.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/fused_kernel.h"
#include "exec/reduce_streams.h"

namespace shard {
namespace {

/// Points of a segment, in whole tiles of the loop: its part of the sum is in the second-level
/// cache until all members are done.
constexpr std::int64_t segment_points = 16384;

std::int64_t points_of_segment(const FusedPlan& plan) {
  return segment_points / plan.tile_units * plan.tile_units;
}

/// Work that needs scratch memory; its own where it is given none.
class WorkWithScratch : public CollectiveWork {
 public:
  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int> order) const final {
    Scratch scratch;
    return run_with({scratch, false}, segment, members, order);
  }
};

/// Parts of a sum of products, of each member its own, that are made while they are added.
class SumOfProducts {
 public:
  /// The product's operands are a member's `also_read` from `first_operand` on.
  SumOfProducts(ProductByRows product, const StreamReduction& reduce, std::size_t first_operand)
      : product_(std::move(product)), reduce_(reduce), first_operand_(first_operand) {}

  /// Points `begin` to `end` lie in rows of the product that are made whole, in its steps.
  const std::byte* run(Scratch& scratch, std::int64_t begin, std::int64_t end,
                       std::span<const MemberPlace> members, std::span<const int> order) const {
    const std::int64_t columns = product_.columns, rows = product_.step, step = rows * columns;
    const std::int64_t first = begin / step * rows;
    const std::int64_t last = std::min(product_.rows, (end + step - 1) / step * rows);
    const std::int64_t block = std::min(block_rows(), last - first);
    float* const sum =
        scratch.take_array<float>(static_cast<std::size_t>((last - first) * columns));
    float* const part = scratch.take_array<float>(static_cast<std::size_t>(block * columns));
    for (std::int64_t row = first; row < last; row += block) {
      add_block(row, std::min(last, row + block), members, order, part,
                sum + (row - first) * columns);
    }
    return reinterpret_cast<const std::byte*>(sum + begin - first * columns);
  }

 private:
  /// Whole steps whose part and sum are both in the first-level cache, where the rows are so short
  /// that the second operand is there too.
  std::int64_t block_rows() const {
    constexpr std::int64_t most_columns = 256, points = 2048;
    if (product_.columns > most_columns) return product_.rows;
    return std::max<std::int64_t>(1, points / product_.columns / product_.step) * product_.step;
  }

  /// `sum`: rows `first` to `last` of all members.
  void add_block(std::int64_t first, std::int64_t last, std::span<const MemberPlace> members,
                 std::span<const int> order, float* part, float* sum) const {
    std::byte* const total = reinterpret_cast<std::byte*>(sum);
    const StreamPlaces both = {{total, reinterpret_cast<const std::byte*>(part)}, {total}};
    const auto operand = [&](std::size_t place, std::size_t number) {
      return members[static_cast<std::size_t>(order[place])].also_read[first_operand_ + number];
    };
    for (std::size_t place = 0; place < order.size(); ++place) {
      const bool is_first = place == 0, is_last = place + 1 == order.size();
      const std::ptrdiff_t next = is_last ? 0 : operand(place + 1, 1) - operand(place, 1);
      product_.run(reinterpret_cast<const float*>(operand(place, 0)),
                   reinterpret_cast<const float*>(operand(place, 1)), next, first, last,
                   is_first ? sum : part);
      if (!is_first) reduce_(both, (last - first) * product_.columns);
    }
  }

  ProductByRows product_;
  StreamReduction reduce_;
  std::size_t first_operand_;
};

class ReducedSteps : public WorkWithScratch {
 public:
  ReducedSteps(const CollectiveShape& shape, FusedPlan plan, std::size_t sum,
               std::optional<ProductByRows> product)
      : reduce_(stream_reduction(shape.reduction, shape.operand.dtype)),
        width_(info(shape.operand.dtype).bytes),
        plan_(std::move(plan)),
        sum_(sum),
        step_(points_of_segment(plan_)) {
    if (product) products_.emplace(std::move(*product), reduce_, plan_.operands);
    for (std::size_t i = 0; i < plan_.operands; ++i) {
      if (i != sum_) loop_bytes_ += plan_.values[i].unit_bytes;
    }
    for (const int output : plan_.outputs)
      loop_bytes_ += plan_.values[static_cast<std::size_t>(output)].unit_bytes;
  }

  std::int64_t segment_count() const override { return (plan_.units + step_ - 1) / step_; }

  SegmentWork run_with(const SegmentHelp& help, std::int64_t segment,
                       std::span<const MemberPlace> members,
                       std::span<const int> order) const override {
    const std::int64_t begin = segment * step_, end = std::min(plan_.units, begin + step_);
    const std::int64_t count = end - begin;
    const std::size_t mark = help.scratch.mark();
    ask_for_begin(members.front(), begin, count);
    const std::byte* sum = products_ && !help.is_observed
                               ? products_->run(help.scratch, begin, end, members, order)
                               : sum_of_operands(help.scratch, begin, count, members, order);
    for (const MemberPlace& member : members) {
      if (!help.is_observed) break;
      std::memcpy(member.result + begin * width_, sum, static_cast<std::size_t>(count * width_));
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      const MemberPlace& member = members[i];
      if (i + 1 < members.size()) ask_for_begin(members[i + 1], begin, count);
      const KernelCall call{std::span(member.also_read).first(plan_.operands), member.also_written,
                            help.scratch};
      const std::size_t before = help.scratch.mark();
      FusedRun run(plan_, call);
      run.move_operand(sum_, sum, begin);
      run.run(begin, end);
      help.scratch.rewind(before);
    }
    help.scratch.rewind(mark);
    const std::int64_t n = static_cast<std::int64_t>(members.size());
    return {n * count, n * count * width_, {}, n * count * loop_bytes_};
  }

 private:
  /// What the loop reads of a member first; what comes later its kernels ask for themselves.
  void ask_for_begin(const MemberPlace& member, std::int64_t begin, std::int64_t count) const {
    constexpr std::int64_t most_bytes = 2048;
    for (std::size_t k = 0; k < plan_.operands; ++k) {
      const std::int64_t each = k == sum_ ? 0 : plan_.values[k].unit_bytes;
      ask_for(member.also_read[k] + begin * each,
              static_cast<std::size_t>(std::min(most_bytes, count * each)));
    }
  }

  const std::byte* sum_of_operands(Scratch& scratch, std::int64_t begin, std::int64_t count,
                                   std::span<const MemberPlace> members,
                                   std::span<const int> order) const {
    std::byte* sum = scratch.take(static_cast<std::size_t>(count * width_));
    StreamPlaces places;
    places.out.push_back(sum);
    for (const int member : order) {
      const MemberPlace& place = members[static_cast<std::size_t>(member)];
      places.in.push_back(place.operand + begin * width_);
    }
    reduce_(places, count);
    return sum;
  }

  StreamReduction reduce_;
  std::int64_t width_;
  FusedPlan plan_;
  std::size_t sum_;
  std::int64_t step_;  ///< points of a segment
  std::optional<SumOfProducts> products_;
  std::int64_t loop_bytes_ = 0;  ///< that the loop reads and writes per point
};

/// The same without a loop behind: every member gets the sum.
class ReducedProduct : public WorkWithScratch {
 public:
  ReducedProduct(const CollectiveShape& shape, ProductByRows product)
      : reduce_(stream_reduction(shape.reduction, shape.operand.dtype)),
        width_(info(shape.operand.dtype).bytes),
        points_(product.rows * product.columns),
        products_(std::move(product), reduce_, 0) {}

  std::int64_t segment_count() const override {
    return (points_ + segment_points - 1) / segment_points;
  }

  SegmentWork run_with(const SegmentHelp& help, std::int64_t segment,
                       std::span<const MemberPlace> members,
                       std::span<const int> order) const override {
    const std::int64_t begin = segment * segment_points;
    const std::int64_t end = std::min(points_, begin + segment_points), count = end - begin;
    const std::size_t mark = help.scratch.mark();
    if (help.is_observed) {
      reduce_(places_from(members, order, begin * width_), count);
    } else {
      const std::byte* sum = products_.run(help.scratch, begin, end, members, order);
      for (const MemberPlace& member : members) {
        std::memcpy(member.result + begin * width_, sum, static_cast<std::size_t>(count * width_));
      }
    }
    help.scratch.rewind(mark);
    const std::int64_t n = static_cast<std::int64_t>(members.size());
    return {n * count, 2 * n * count * width_};
  }

 private:
  StreamReduction reduce_;
  std::int64_t width_;
  std::int64_t points_;
  SumOfProducts products_;
};

/// Segments of `points` need little that others make too.
bool has_few_shared_steps(const ProductByRows& product, std::int64_t points) {
  constexpr std::int64_t fewest_steps = 4;
  const std::int64_t step = product.step * product.columns;
  return product.rows * product.columns <= points || points % step == 0 ||
         points / step >= fewest_steps;
}

}  // namespace

bool can_follow_reduction(const FusedPlan& plan, std::size_t sum) {
  const bool is_pointwise =
      std::none_of(plan.steps.begin(), plan.steps.end(),
                   [](const TileStep& step) { return step.spread.has_value(); });
  return !plan.has_rows && is_pointwise && plan.values[sum].unit_bytes > 0;
}

bool can_be_reduced_by_part(const ProductByRows& product, std::int64_t members) {
  return are_added_in_turn(members) && has_few_shared_steps(product, segment_points);
}

bool can_be_reduced_by_part(const ProductByRows& product, const FusedPlan& plan) {
  return plan.units == product.rows * product.columns &&
         has_few_shared_steps(product, points_of_segment(plan));
}

std::shared_ptr<const CollectiveWork> make_reduced_product(const CollectiveShape& shape,
                                                           ProductByRows product) {
  return std::make_shared<ReducedProduct>(shape, std::move(product));
}

std::shared_ptr<const CollectiveWork> make_reduced_steps(const CollectiveShape& shape,
                                                         FusedPlan plan, std::size_t sum,
                                                         std::optional<ProductByRows> product) {
  return std::make_shared<ReducedSteps>(shape, std::move(plan), sum, std::move(product));
}

}  // namespace shard
