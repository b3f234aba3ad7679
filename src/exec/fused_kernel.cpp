#include "exec/fused_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace shard {

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
    std::size_t line = 0, product = 0;
    for (const TileStep& step : plan_.steps) {
      if (step.product) {
        multiply(step, products_[product++], unit, units);
      } else if (step.spread) {
        spread(step, step.line ? lines_[line++] : nullptr, unit, units);
      } else {
        run(step, units);
      }
    }
    for (std::size_t i = 0; i < is_staged_.size(); ++i) {
      if (is_staged_[i]) put(i, unit, units);
    }
    if (plan_.has_products && before + units == plan_.group_units) end_group(group);
  }
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

void FusedRun::spread(const TileStep& step, const std::byte* line, std::int64_t unit,
                      std::int64_t units) {
  const std::byte* from =
      line != nullptr ? line : call_.operands[static_cast<std::size_t>(step.operands.front())];
  step.spread->copy(from, unit * step.unit_points, units * step.unit_points,
                    at_[static_cast<std::size_t>(step.results.front())]);
}

void FusedRun::run(const TileStep& step, std::int64_t units) {
  operands_.clear();
  results_.clear();
  for (const int value : step.operands) operands_.push_back(at_[static_cast<std::size_t>(value)]);
  for (const int value : step.results) results_.push_back(at_[static_cast<std::size_t>(value)]);
  const std::size_t mark = call_.scratch.mark();
  const Kernel& kernel = units == plan_.tile_units ? step.full : step.last;
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

void FusedRun::multiply(const TileStep& step, const RowProduct::State& state, std::int64_t unit,
                        std::int64_t units) {
  const int operand = step.product->points_operand();
  const int points =
      operand < 0 ? step.results.front() : step.operands[static_cast<std::size_t>(operand)];
  const std::size_t mark = call_.scratch.mark();
  step.product->run(unit / plan_.group_units, unit % plan_.group_units, units, state,
                    at_[static_cast<std::size_t>(points)], whole_result(step), call_.scratch);
  call_.scratch.rewind(mark);
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
