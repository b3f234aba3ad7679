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

class ReducedSteps : public CollectiveWork {
 public:
  ReducedSteps(const CollectiveShape& shape, FusedPlan plan, std::size_t sum)
      : reduce_(stream_reduction(shape.reduction, shape.operand.dtype)),
        width_(info(shape.operand.dtype).bytes),
        plan_(std::move(plan)),
        sum_(sum),
        step_(segment_points / plan_.tile_units * plan_.tile_units) {
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
    std::byte* sum = help.scratch.take(static_cast<std::size_t>(count * width_));
    StreamPlaces places;
    places.out.push_back(sum);
    for (const int member : order) {
      const MemberPlace& place = members[static_cast<std::size_t>(member)];
      places.in.push_back(place.operand + begin * width_);
    }
    reduce_(places, count);
    for (const MemberPlace& member : members) {
      if (!help.is_observed) break;
      std::memcpy(member.result + begin * width_, sum, static_cast<std::size_t>(count * width_));
    }
    for (const MemberPlace& member : members) {
      const KernelCall call{member.also_read, member.also_written, help.scratch};
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
  StreamReduction reduce_;
  std::int64_t width_;
  FusedPlan plan_;
  std::size_t sum_;
  std::int64_t step_;            ///< points of a segment
  std::int64_t loop_bytes_ = 0;  ///< that the loop reads and writes per point
};

}  // namespace

bool can_follow_reduction(const FusedPlan& plan, std::size_t sum) {
  const bool is_pointwise =
      std::none_of(plan.steps.begin(), plan.steps.end(),
                   [](const TileStep& step) { return step.spread.has_value(); });
  return !plan.has_rows && is_pointwise && plan.values[sum].unit_bytes > 0;
}

std::shared_ptr<const CollectiveWork> make_reduced_steps(const CollectiveShape& shape,
                                                         FusedPlan plan, std::size_t sum) {
  return std::make_shared<ReducedSteps>(shape, std::move(plan), sum);
}

}  // namespace shard
