#include "exec/fused_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/reduce_streams.h"

namespace shard {
namespace {

/// A predicate as 0 or 1.
float number_at(DType dtype, const std::byte* place) {
  if (dtype == DType::boolean) return *place != std::byte{0} ? 1.0F : 0.0F;
  float number = 0;
  widen_floats(dtype, place, &number, 1);
  return number;
}

}  // namespace

FusedRun::FusedRun(const FusedPlan& plan, const KernelCall& call)
    : plan_(plan),
      call_(call),
      is_staged_(plan.outputs.size(), &lists_),
      at_(plan.values.size(), &lists_),
      lines_(&lists_),
      products_(&lists_),
      operands_(&lists_),
      results_(&lists_) {
  slots_ = call.scratch.take(static_cast<std::size_t>(plan.slot_bytes));
  for (const Hazard& hazard : plan.hazards) {
    if (call.results[hazard.output] == call.operands[hazard.operand])
      is_staged_[hazard.output] = true;
  }
  for (const TileStep& step : plan.steps) {
    if (step.product) products_.push_back(step.product->prepare(call.scratch));
    if (!step.line) continue;
    std::byte* line = call.scratch.take(step.line_bytes);
    const std::array<std::byte*, 1> results = {line};
    step.line({{}, results, call.scratch, call.device});
    lines_.push_back(line);
  }
}

void FusedRun::move_operand(std::size_t operand, const std::byte* part, std::int64_t first) {
  moved_ = operand;
  moved_to_ = part;
  moved_from_ = first;
}

void FusedRun::run(std::int64_t begin, std::int64_t end) {
  for (std::int64_t unit = begin, units = 0; unit < end; unit += units) {
    const std::int64_t group = unit / plan_.group_units, before = unit % plan_.group_units;
    units = std::min({plan_.tile_units, end - unit, plan_.group_units - before});
    find_places(unit);
    if (plan_.has_products && before == 0) begin_group(group);
    const std::size_t width = width_for(unit, units);
    const std::int64_t next_units = std::min(plan_.tile_units, end - unit - units);
    const std::size_t done = run_steps({unit, units, width, next_units}, 0);
    if (done < plan_.steps.size()) run_steps({unit, units, 0, next_units}, done);
    for (std::size_t i = 0; i < is_staged_.size(); ++i) {
      if (is_staged_[i]) put(i, unit, units);
    }
    if (plan_.has_products && before + units == plan_.group_units) end_group(group);
  }
}

/// The place of the least width with which every mask hides the last point of every row, and all
/// that are cut off.
std::size_t FusedRun::width_for(std::int64_t unit, std::int64_t units) {
  if (plan_.widths.size() == 1) return 0;
  const std::int64_t points = plan_.widths.front();
  const std::size_t mark = call_.scratch.mark();
  std::byte* const row = call_.scratch.take(static_cast<std::size_t>(points));
  std::int64_t seen = 0;  // points, at the start of a row
  for (const RowMask& mask : plan_.masks) {
    const TileStep& step = plan_.steps[static_cast<std::size_t>(mask.step)];
    SHARD_CHECK(step.spread, "a mask is spread over the points");
    const std::byte* const from = call_.operands[static_cast<std::size_t>(step.operands.front())];
    // Mostly the last row sees most.
    for (std::int64_t i = units; i-- > 0 && seen < points;) {
      step.spread->copy(from, (unit + i) * points + seen, points - seen, row + seen);
      std::int64_t last = points;
      while (last > seen && (row[last - 1] != std::byte{0}) == mask.hidden) --last;
      seen = last;
    }
  }
  call_.scratch.rewind(mark);
  const auto width = std::upper_bound(plan_.widths.begin() + 1, plan_.widths.end(), seen);
  return width == plan_.widths.end() ? 0 : static_cast<std::size_t>(width - plan_.widths.begin());
}

/// How many steps were run: all, or those before one that cut rows are no good for. What the first
/// `summed` steps add to sums over the rows is there already.
std::size_t FusedRun::run_steps(const Tile& tile, std::size_t summed) {
  std::size_t line = 0, product = 0;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const TileStep& step = plan_.steps[i];
    ask_ahead(i, tile);
    if (tile.width > 0 && !holds(step, tile)) return i;
    if (step.product) {
      const RowProduct::State& state = products_[product++];
      const bool is_there = i < summed && step.product->kind() == LoopProductKind::rows_summed;
      if (!is_there && !multiply(step, state, tile)) return i;
    } else if (step.spread) {
      spread(step, *step.spread, step.line ? lines_[line++] : nullptr, tile);
    } else {
      run(step, tile);
    }
  }
  return plan_.steps.size();
}

/// Each step asks for a part of the next tile.
void FusedRun::ask_ahead(std::size_t step, const Tile& tile) const {
  constexpr std::size_t line = 64;
  const std::int64_t unit = tile.unit + tile.units;
  for (const std::size_t i : plan_.asked_for) {
    const TileValue& value = plan_.values[i];
    if (i == moved_) continue;
    const std::byte* const array = i < call_.operands.size()
                                       ? call_.operands[i]
                                       : call_.results[static_cast<std::size_t>(value.output)];
    const auto lines = static_cast<std::size_t>(tile.next_units * value.unit_bytes) / line;
    const std::size_t begin = lines * step / plan_.steps.size();
    const std::size_t end = lines * (step + 1) / plan_.steps.size();
    ask_for(array + unit * value.unit_bytes + begin * line, (end - begin) * line);
  }
}

bool FusedRun::holds(const TileStep& step, const Tile& tile) const {
  const std::int64_t width = plan_.widths[tile.width];
  return std::all_of(step.checks.begin(), step.checks.end(), [&](const TailCheck& check) {
    const TileValue& value = plan_.values[static_cast<std::size_t>(check.value)];
    const std::byte* const first = at_[static_cast<std::size_t>(check.value)];
    if (check.is_scalar) return shard::holds(check.kind, number_at(value.dtype, first));
    for (std::int64_t i = 1; i <= tile.units; ++i) {
      const std::byte* const last = first + (i * width - 1) * value.point_bytes;
      if (!shard::holds(check.kind, number_at(value.dtype, last))) return false;
    }
    return true;
  });
}

void FusedRun::find_places(std::int64_t unit) {
  for (std::size_t i = 0; i < at_.size(); ++i) {
    const TileValue& value = plan_.values[i];
    if (i < call_.operands.size()) {
      const std::byte* part = i == moved_ ? moved_to_ + (unit - moved_from_) * value.unit_bytes
                                          : call_.operands[i] + unit * value.unit_bytes;
      at_[i] = const_cast<std::byte*>(part);  // never written: only steps' results are
    } else if (value.output >= 0 && !is_staged_[static_cast<std::size_t>(value.output)]) {
      at_[i] = call_.results[static_cast<std::size_t>(value.output)] + unit * value.unit_bytes;
    } else {
      at_[i] = slots_ + value.slot;
    }
  }
}

void FusedRun::spread(const TileStep& step, const SpreadWalk& walk, const std::byte* line,
                      const Tile& tile) {
  const std::byte* const from =
      line != nullptr ? line : call_.operands[static_cast<std::size_t>(step.operands.front())];
  const auto result = static_cast<std::size_t>(step.results.front());
  const TileValue& value = plan_.values[result];
  const std::int64_t points = step.unit_points;
  if (tile.width == 0 || value.point_bytes == 0)
    return walk.copy(from, tile.unit * points, tile.units * points, at_[result]);
  const std::int64_t width = plan_.widths[tile.width];
  for (std::int64_t i = 0; i < tile.units; ++i) {
    walk.copy(from, (tile.unit + i) * points, width, at_[result] + i * width * value.point_bytes);
  }
}

void FusedRun::run(const TileStep& step, const Tile& tile) {
  operands_.clear();
  results_.clear();
  for (const int value : step.operands) operands_.push_back(at_[static_cast<std::size_t>(value)]);
  for (const int value : step.results) results_.push_back(at_[static_cast<std::size_t>(value)]);
  const std::size_t mark = call_.scratch.mark();
  const StepKernels& kernels = step.kernels[tile.width];
  const Kernel& kernel = tile.units == plan_.tile_units ? kernels.full : kernels.last;
  kernel({operands_, results_, call_.scratch, call_.device});
  call_.scratch.rewind(mark);
}

void FusedRun::begin_group(std::int64_t group) {
  std::size_t number = 0;
  for (const TileStep& step : plan_.steps) {
    if (!step.product) continue;
    operands_.clear();
    for (const int value : step.operands) {
      const auto operand = static_cast<std::size_t>(value);
      operands_.push_back(operand < plan_.operands ? call_.operands[operand] : nullptr);
    }
    step.product->begin(group, operands_.data(), products_[number++]);
  }
}

void FusedRun::end_group(std::int64_t group) {
  std::size_t number = 0;
  for (const TileStep& step : plan_.steps) {
    if (!step.product) continue;
    step.product->end(group, products_[number++], whole_result(step));
  }
}

/// Of a product that does not make points.
std::byte* FusedRun::whole_result(const TileStep& step) const {
  const int output = plan_.values[static_cast<std::size_t>(step.results.front())].output;
  const bool makes_points = step.product->kind() == LoopProductKind::points;
  return makes_points ? nullptr : call_.results[static_cast<std::size_t>(output)];
}

/// False where the product is none of cut rows.
bool FusedRun::multiply(const TileStep& step, const RowProduct::State& state, const Tile& tile) {
  const int operand = step.product->points_operand();
  const int points =
      operand < 0 ? step.results.front() : step.operands[static_cast<std::size_t>(operand)];
  const std::size_t mark = call_.scratch.mark();
  const bool is_made = step.product->run(
      {tile.unit / plan_.group_units, tile.unit % plan_.group_units, tile.units,
       plan_.widths[tile.width]},
      state, at_[static_cast<std::size_t>(points)], whole_result(step), call_.scratch);
  call_.scratch.rewind(mark);
  return is_made;
}

void FusedRun::put(std::size_t output, std::int64_t unit, std::int64_t units) const {
  const auto value = static_cast<std::size_t>(plan_.outputs[output]);
  const std::int64_t bytes = plan_.values[value].unit_bytes;
  std::memcpy(call_.results[output] + unit * bytes, at_[value],
              static_cast<std::size_t>(units * bytes));
}

Kernel fused_kernel(FusedPlan plan) {
  return [plan = std::make_shared<const FusedPlan>(std::move(plan))](const KernelCall& call) {
    FusedRun(*plan, call).run(0, plan->units);
  };
}

}  // namespace shard
