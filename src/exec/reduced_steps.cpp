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

class ReducedSteps : public CollectiveWork {
 public:
  ReducedSteps(const CollectiveShape& shape, FusedPlan plan, std::size_t sum,
               std::optional<ProductByRows> product)
      : reduce_(stream_reduction(shape.reduction, shape.operand.dtype)),
        width_(info(shape.operand.dtype).bytes),
        plan_(std::move(plan)),
        sum_(sum),
        step_(points_of_segment(plan_)),
        product_(std::move(product)) {
    for (std::size_t i = 0; i < plan_.operands; ++i) {
      if (i != sum_) loop_bytes_ += plan_.values[i].unit_bytes;
    }
    for (const int output : plan_.outputs)
      loop_bytes_ += plan_.values[static_cast<std::size_t>(output)].unit_bytes;
  }

  std::int64_t segment_count() const override { return (plan_.units + step_ - 1) / step_; }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int> order) const override {
    Scratch scratch;
    return run_with({scratch, false}, segment, members, order);
  }

  SegmentWork run_with(const SegmentHelp& help, std::int64_t segment,
                       std::span<const MemberPlace> members,
                       std::span<const int> order) const override {
    const std::int64_t begin = segment * step_, end = std::min(plan_.units, begin + step_);
    const std::int64_t count = end - begin;
    const std::size_t mark = help.scratch.mark();
    const std::byte* sum = product_ && !help.is_observed
                               ? sum_of_products(help.scratch, begin, end, members, order)
                               : sum_of_operands(help.scratch, begin, count, members, order);
    for (const MemberPlace& member : members) {
      if (!help.is_observed) break;
      std::memcpy(member.result + begin * width_, sum, static_cast<std::size_t>(count * width_));
    }
    for (const MemberPlace& member : members) {
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

  /// Points `begin` to `end` lie in rows of the product that are made whole, in its steps.
  const std::byte* sum_of_products(Scratch& scratch, std::int64_t begin, std::int64_t end,
                                   std::span<const MemberPlace> members,
                                   std::span<const int> order) const {
    const std::int64_t columns = product_->columns, rows = product_->step, step = rows * columns;
    const std::int64_t first = begin / step * rows;
    const std::int64_t last = std::min(product_->rows, (end + step - 1) / step * rows);
    const auto points = static_cast<std::size_t>((last - first) * columns);
    const std::int64_t before = begin - first * columns;
    float* sum = scratch.take_array<float>(points);
    float* part = sum;
    for (const int member : order) {
      const std::vector<const std::byte*>& read =
          members[static_cast<std::size_t>(member)].also_read;
      product_->run(reinterpret_cast<const float*>(read[plan_.operands]),
                    reinterpret_cast<const float*>(read[plan_.operands + 1]), first, last, part);
      if (part != sum) add(part + before, end - begin, sum + before);
      if (part == sum) part = scratch.take_array<float>(points);
    }
    return reinterpret_cast<const std::byte*>(sum + before);
  }

  void add(const float* part, std::int64_t count, float* sum) const {
    std::byte* const total = reinterpret_cast<std::byte*>(sum);
    reduce_({{total, reinterpret_cast<const std::byte*>(part)}, {total}}, count);
  }

  StreamReduction reduce_;
  std::int64_t width_;
  FusedPlan plan_;
  std::size_t sum_;
  std::int64_t step_;  ///< points of a segment
  std::optional<ProductByRows> product_;
  std::int64_t loop_bytes_ = 0;  ///< that the loop reads and writes per point
};

}  // namespace

bool can_follow_reduction(const FusedPlan& plan, std::size_t sum) {
  const bool is_pointwise =
      std::none_of(plan.steps.begin(), plan.steps.end(),
                   [](const TileStep& step) { return step.spread.has_value(); });
  return !plan.has_rows && is_pointwise && plan.values[sum].unit_bytes > 0;
}

bool can_be_reduced_by_part(const ProductByRows& product, const FusedPlan& plan) {
  constexpr std::int64_t fewest_steps = 4;  // else too much is made that other segments need
  const std::int64_t points = points_of_segment(plan), step = product.step * product.columns;
  return plan.units == product.rows * product.columns &&
         (plan.units <= points || points % step == 0 || points / step >= fewest_steps);
}

std::shared_ptr<const CollectiveWork> make_reduced_steps(const CollectiveShape& shape,
                                                         FusedPlan plan, std::size_t sum,
                                                         std::optional<ProductByRows> product) {
  return std::make_shared<ReducedSteps>(shape, std::move(plan), sum, std::move(product));
}

}  // namespace shard
