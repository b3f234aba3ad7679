#include "exec/fused_plan.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "spmd/fused_form.h"

namespace shard {
namespace {

/// Points of a tile: large enough to make the calls of kernels cheap, small enough that some slots
/// of it are in the first-level cache. One step has no slots, and long runs are fetched ahead best.
constexpr std::int64_t tile_points = 2048;
constexpr std::int64_t points_of_one_step = 16384;
/// With products: rows enough to make the packing of blocks cheap, in the second-level cache if
/// they can be.
constexpr std::int64_t points_of_products = 32768;
constexpr std::int64_t fewest_rows_of_products = 32;
/// Widths that rows may be cut to, as parts of a whole row, and the fewest points between two.
constexpr std::int64_t most_widths = 16;
constexpr std::int64_t points_between_widths = 32;
constexpr std::int64_t slot_alignment = 64;
/// Arrays of so many bytes together are likely to be in the second-level cache.
constexpr std::int64_t most_kept_bytes = std::int64_t{1} << 21;

class FusedPlanner {
 public:
  FusedPlanner(const Instruction& instruction, FusedForm form,
               const std::function<KernelMaker(Op)>& maker_of)
      : instruction_(instruction), form_(std::move(form)), maker_of_(maker_of) {}

  std::variant<FusedPlan, std::string> plan() {
    const bool has_rows = form_.row_dims >= 0;
    plan_.units = has_rows ? form_.rows() : form_.columns();
    unit_points_ = has_rows ? form_.columns() : 1;
    plan_.has_products = form_.group_dims >= 0;
    plan_.group_units = plan_.units / std::max<std::int64_t>(1, form_.groups());
    plan_.tile_units = units_of_tile();
    plan_.operands = instruction_.operands.size();
    plan_.has_rows = has_rows;
    plan_.outputs = instruction_.outputs;
    find_widths();
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i) plan_.values.push_back({});
    for (std::size_t i = 0; i < instruction_.steps.size(); ++i) {
      if (const auto refusal = add_step(i)) return *refusal;
    }
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i)
      plan_.values[static_cast<std::size_t>(plan_.outputs[i])].output = static_cast<int>(i);
    find_hazards();
    assign_slots();
    choose_asked_for();
    return std::move(plan_);
  }

 private:
  std::int64_t units_of_tile() const {
    const bool is_one_step = instruction_.steps.size() == 1 && form_.row_dims < 0;
    const std::int64_t points = plan_.has_products ? points_of_products
                                : is_one_step      ? points_of_one_step
                                                   : tile_points;
    return std::max<std::int64_t>(plan_.has_products ? fewest_rows_of_products : 1,
                                  points / std::max<std::int64_t>(1, unit_points_));
  }

  void find_widths() {
    plan_.widths.push_back(unit_points_);
    if (!plan_.has_products) return;
    auto tails = find_row_tails(instruction_, form_);
    if (!tails) return;
    plan_.masks = std::move(tails->masks);
    checks_ = std::move(tails->checks);
    const std::int64_t apart =
        std::max(points_between_widths, (unit_points_ + most_widths - 1) / most_widths);
    for (std::int64_t width = apart; width < unit_points_; width += apart)
      plan_.widths.push_back(width);
  }

  const TensorType& type(int value) const { return form_.values[static_cast<std::size_t>(value)]; }
  bool is_outside(int value) const {
    return static_cast<std::size_t>(value) < instruction_.operands.size();
  }
  std::int64_t points_per_unit(const Shape& shape) const {
    return form_.is_by_row(shape) ? 1 : unit_points_;
  }

  /// The type of a value's part in a tile of this many units, with this many points each.
  TensorType tile_type(int value, std::int64_t units, std::int64_t width) const {
    const TensorType& whole = type(value);
    if (whole.shape.empty()) return whole;
    if (form_.row_dims < 0 || form_.is_by_row(whole.shape)) return {whole.dtype, {units}};
    return {whole.dtype, {units, width}};
  }

  std::optional<std::string> add_step(std::size_t number) {
    const FusedStep& step = instruction_.steps[number];
    TileStep made;
    made.operands = step.operands;
    if (!checks_.empty()) made.checks = checks_[number];
    if (fusion_role(step.op) == FusionRole::product) return add_product(number, std::move(made));
    for (int value = form_.first_value[number]; value < end_of(number); ++value) {
      made.results.push_back(value);
      const bool has_points = type(value).shape == form_.shape;
      const std::int64_t bytes = info(type(value).dtype).bytes;
      plan_.values.push_back(
          {points_per_unit(type(value).shape) * bytes, has_points ? bytes : 0, type(value).dtype});
    }
    const bool is_spread =
        fusion_role(step.op) == FusionRole::spread && is_outside(step.operands.front());
    if (fusion_role(step.op) == FusionRole::position) {
      if (auto refusal = add_line(step, made)) return refusal;
    } else if (is_spread) {
      made.spread.emplace(KernelSite{
          step.op, step.attributes, {type(step.operands.front())}, {type(made.results.front())}});
      made.unit_points = points_per_unit(type(made.results.front()).shape);
    } else {
      note_operands(step);
      for (const std::int64_t width : plan_.widths) {
        if (auto refusal = add_kernels(step, width, made)) return refusal;
      }
    }
    plan_.steps.push_back(std::move(made));
    return std::nullopt;
  }

  std::optional<std::string> add_kernels(const FusedStep& step, std::int64_t width,
                                         TileStep& made) const {
    StepKernels kernels;
    const std::int64_t rest = plan_.group_units % plan_.tile_units;
    for (const auto& [units, kernel] :
         {std::pair(plan_.tile_units, &kernels.full), std::pair(rest, &kernels.last)}) {
      if (units == 0 || units > plan_.group_units) continue;
      KernelResult result = kernel_of(step, made.results, units, width);
      if (auto* refusal = std::get_if<std::string>(&result)) return std::move(*refusal);
      *kernel = std::get<Kernel>(std::move(result));
    }
    made.kernels.push_back(std::move(kernels));
    return std::nullopt;
  }

  std::optional<std::string> add_product(std::size_t number, TileStep made) {
    const FusedStep& step = instruction_.steps[number];
    const int value = form_.first_value[number];
    KernelSite site{step.op, step.attributes, {}, {type(value)}};
    for (const int operand : step.operands) site.operands.push_back(type(operand));
    const LoopProduct product = product_of_step(instruction_, form_, number);
    auto result = make_row_product(site, product);
    if (auto* refusal = std::get_if<std::string>(&result)) return std::move(*refusal);
    made.product = std::get<0>(std::move(result));
    made.results.push_back(value);
    const std::int64_t bytes =
        product.kind == LoopProductKind::points ? info(type(value).dtype).bytes : 0;
    plan_.values.push_back({unit_points_ * bytes, bytes, type(value).dtype});
    plan_.steps.push_back(std::move(made));
    return std::nullopt;
  }

  /// Positions along a dim, on a device that may have a part of it, and where they are repeated.
  std::optional<std::string> add_line(const FusedStep& step, TileStep& made) {
    const TensorType& whole = type(made.results.front());
    const std::int64_t dim = step.attributes.integer("dim");
    const std::vector<std::int64_t> length{whole.shape[static_cast<std::size_t>(dim)]};
    const TensorType line{whole.dtype, length};
    Attributes attributes = step.attributes;
    attributes.set("shape", length);
    attributes.set("dim", std::int64_t{0});
    if (attributes.has("part_dims")) {
      const std::size_t digits = attributes.integers("part_dims").size();
      attributes.set("part_dims", std::vector<std::int64_t>(digits, 0));
    }
    KernelResult result = maker_of_(step.op)({step.op, attributes, {}, {line}});
    if (auto* refusal = std::get_if<std::string>(&result)) return std::move(*refusal);
    made.line = std::get<Kernel>(std::move(result));
    made.line_bytes = static_cast<std::size_t>(bytes_of(line).count());
    Attributes along;
    along.set("dims", std::vector<std::int64_t>{dim});
    made.spread.emplace(KernelSite{Op::broadcast, along, {line}, {whole}});
    made.unit_points = points_per_unit(whole.shape);
    return std::nullopt;
  }

  int end_of(std::size_t step) const {
    return step + 1 < form_.first_value.size() ? form_.first_value[step + 1]
                                               : static_cast<int>(form_.values.size());
  }

  /// Operands that are not scalars are read tile by tile.
  void note_operands(const FusedStep& step) {
    for (const int value : step.operands) {
      if (!is_outside(value) || type(value).shape.empty()) continue;
      plan_.values[static_cast<std::size_t>(value)].unit_bytes =
          points_per_unit(type(value).shape) * info(type(value).dtype).bytes;
    }
  }

  KernelResult kernel_of(const FusedStep& step, const std::vector<int>& results, std::int64_t units,
                         std::int64_t width) const {
    KernelSite site{step.op, step.attributes, {}, {}};
    for (const int value : step.operands) site.operands.push_back(tile_type(value, units, width));
    for (const int value : results) site.results.push_back(tile_type(value, units, width));
    const FusionRole role = fusion_role(step.op);
    if (role == FusionRole::by_row) site.attributes.set("dims", std::vector<std::int64_t>{1});
    if (role == FusionRole::spread) site.attributes.set("dims", std::vector<std::int64_t>{0});
    const KernelMaker make = maker_of_(step.op);
    SHARD_CHECK(make != nullptr, "a step's op has a kernel");
    return make(site);
  }

  /// Position of the last step that reads the value; -1: none.
  int last_reader(int value) const {
    int last = -1;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::vector<int>& operands = plan_.steps[i].operands;
      if (std::find(operands.begin(), operands.end(), value) != operands.end())
        last = static_cast<int>(i);
    }
    return last;
  }

  int maker_step(int value) const {
    int step = 0;
    while (step + 1 < static_cast<int>(form_.first_value.size()) &&
           form_.first_value[static_cast<std::size_t>(step) + 1] <= value)
      ++step;
    return step;
  }

  void find_hazards() {
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const int output = plan_.outputs[i], step = maker_step(output);
      for (std::size_t k = 0; k < instruction_.operands.size(); ++k) {
        const int operand = static_cast<int>(k);
        if (type(operand) != type(output)) continue;
        const int last = last_reader(operand);
        if (last > step || (last == step && !may_be_over(step, output, operand)))
          plan_.hazards.push_back({i, k});
      }
    }
  }

  /// The step may write this result over that operand of its own: a step with several results only
  /// place by place.
  bool may_be_over(int number, int result, int operand) const {
    const TileStep& step = plan_.steps[static_cast<std::size_t>(number)];
    if (step.results.size() == 1) return true;
    const auto place = static_cast<std::size_t>(result - step.results.front());
    return std::count(step.operands.begin(), step.operands.end(), operand) == 1 &&
           place < step.operands.size() && step.operands[place] == operand;
  }

  bool needs_slot(int value) const {
    const int output = plan_.values[static_cast<std::size_t>(value)].output;
    return output < 0 ||
           std::any_of(plan_.hazards.begin(), plan_.hazards.end(), [&](const Hazard& hazard) {
             return hazard.output == static_cast<std::size_t>(output);
           });
  }

  /// First fit among slots that are free from a step on; results are wanted to the end.
  void assign_slots() {
    struct Slot {
      std::int64_t offset = 0;
      std::int64_t bytes = 0;
      int busy_until = -1;  ///< step
    };
    std::vector<Slot> slots;
    for (int step = 0; step < static_cast<int>(plan_.steps.size()); ++step) {
      for (const int value : plan_.steps[static_cast<std::size_t>(step)].results) {
        if (!needs_slot(value)) continue;
        TileValue& made = plan_.values[static_cast<std::size_t>(value)];
        const std::int64_t bytes =
            (made.unit_bytes * std::min(plan_.tile_units, plan_.units) + slot_alignment - 1) /
            slot_alignment * slot_alignment;
        auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& one) {
          return one.busy_until < step && one.bytes == bytes;
        });
        if (slot == slots.end()) {
          slots.push_back({plan_.slot_bytes, bytes, -1});
          plan_.slot_bytes += bytes;
          slot = slots.end() - 1;
        }
        made.slot = slot->offset;
        slot->busy_until = made.output >= 0 ? static_cast<int>(plan_.steps.size())
                                            : std::max(last_reader(value), step);
      }
    }
  }

  /// A loop of one step reads long runs; one with products has little to read.
  void choose_asked_for() {
    if (plan_.has_products || plan_.steps.size() == 1) return;
    std::int64_t bytes = 0;
    for (const TileValue& value : plan_.values) {
      if (value.slot < 0) bytes += value.unit_bytes * plan_.units;
    }
    if (bytes <= most_kept_bytes) return;
    for (int value = 0; value < static_cast<int>(plan_.values.size()); ++value) {
      const auto place = static_cast<std::size_t>(value);
      if (plan_.values[place].unit_bytes == 0) continue;
      const bool is_written = plan_.values[place].output >= 0 && !takes_long(value);
      if (is_outside(value) || is_written) plan_.asked_for.push_back(place);
    }
  }

  /// The step that makes the value.
  bool takes_long(int value) const {
    const FusedStep& step = instruction_.steps[static_cast<std::size_t>(maker_step(value))];
    return kernel_table()[static_cast<std::size_t>(step.op)].takes_long;
  }

  const Instruction& instruction_;
  FusedForm form_;
  const std::function<KernelMaker(Op)>& maker_of_;
  FusedPlan plan_;
  std::int64_t unit_points_ = 1;
  std::vector<std::vector<TailCheck>> checks_;  ///< by step; none where no row may be cut
};

FusedForm form_of(const Instruction& instruction, std::span<const TensorType> operands) {
  FusedFormResult form = fused_form(operands, instruction.steps);
  SHARD_CHECK(std::holds_alternative<FusedForm>(form), "a fused instruction was verified");
  return std::get<FusedForm>(std::move(form));
}

}  // namespace

std::variant<FusedPlan, std::string> plan_fused(const Instruction& instruction,
                                                std::span<const TensorType> operands,
                                                const std::function<KernelMaker(Op)>& maker_of) {
  return FusedPlanner(instruction, form_of(instruction, operands), maker_of).plan();
}

double flops_of_steps(const Instruction& instruction, std::span<const TensorType> operands) {
  const FusedForm form = form_of(instruction, operands);
  double flops = 0;
  for (std::size_t i = 0; i < instruction.steps.size(); ++i) {
    const FusedStep& step = instruction.steps[i];
    const auto first = form.values.begin() + form.first_value[i];
    const auto last = i + 1 < form.first_value.size()
                          ? form.values.begin() + form.first_value[i + 1]
                          : form.values.end();
    std::vector<TensorType> in;
    in.reserve(step.operands.size());
    for (const int value : step.operands)
      in.push_back(form.values[static_cast<std::size_t>(value)]);
    flops += flops_of(step.op, in, std::vector<TensorType>(first, last), step.attributes);
  }
  return flops;
}

}  // namespace shard
