#include "spmd/fused_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "spmd/loop_product.h"

namespace shard {
namespace {

/// Ops with a role that their row in the op table does not say.
struct RoleRow {
  Op op;
  FusionRole role;
};
constexpr std::array<RoleRow, 12> role_rows = {{
    {Op::optimization_barrier, FusionRole::none},
    {Op::dropout, FusionRole::none},  // its bits go by the place in the whole array
    {Op::broadcast, FusionRole::spread},
    {Op::constant, FusionRole::fill},
    {Op::iota, FusionRole::position},
    {Op::reduce_sum, FusionRole::by_row},
    {Op::reduce_max, FusionRole::by_row},
    {Op::reduce_min, FusionRole::by_row},
    {Op::reduce_prod, FusionRole::by_row},
    {Op::reduce_and, FusionRole::by_row},
    {Op::reduce_or, FusionRole::by_row},
    {Op::dot, FusionRole::product},
}};

bool begins_with(const Shape& whole, const Shape& start) {
  return start.size() <= whole.size() && std::equal(start.begin(), start.end(), whole.begin());
}

/// Are 0, 1, 2...
bool are_leading(const std::vector<std::int64_t>& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

class FormBuilder {
 public:
  explicit FormBuilder(std::span<const TensorType> operands) : outside_(operands.size()) {
    form_.values.assign(operands.begin(), operands.end());
  }

  std::string add(const FusedStep& step) {
    if (fusion_role(step.op) == FusionRole::none) return "it cannot be a step";
    std::vector<TensorType> operands;
    std::vector<char> inside;
    for (const int number : step.operands) {
      if (number < 0 || static_cast<std::size_t>(number) >= form_.values.size())
        return fmt::format("there is no value {} before it", number);
      if (std::find(form_.sums.begin(), form_.sums.end(), number) != form_.sums.end())
        return fmt::format("value {} is not whole before the end of the loop", number);
      operands.push_back(form_.values[static_cast<std::size_t>(number)]);
      inside.push_back(static_cast<std::size_t>(number) >= outside_ ? 1 : 0);
    }
    const int expected = def(step.op).operand_count;
    if (expected >= 0 && operands.size() != static_cast<std::size_t>(expected))
      return fmt::format("{} operands, expected {}", operands.size(), expected);
    return add(step, operands, inside);
  }

  FusedForm form() && { return std::move(form_); }

 private:
  std::string add(const FusedStep& step, const std::vector<TensorType>& operands,
                  const std::vector<char>& inside) {
    const ShapeResult answer = def(step.op).shape_rule(operands, step.attributes);
    if (const auto* problem = std::get_if<std::string>(&answer)) return *problem;
    const auto& results = std::get<std::vector<TensorType>>(answer);
    const auto space = spmd::space_of(step.op, step.attributes, operands, results.front(), inside);
    if (!space) return "its operands are of other shapes than a loop over its result";
    const auto both = form_.first_value.empty() ? space : spmd::joined(whole_, *space);
    if (!both)
      return fmt::format("it is over {}, the steps before it over {}", to_string(space->shape),
                         to_string(whole_.shape));
    whole_ = *both;
    form_.shape = whole_.shape;
    form_.row_dims = whole_.row_dims;
    form_.group_dims = whole_.group_dims;
    if (is_sum(step, operands, results.front(), inside))
      form_.sums.push_back(static_cast<int>(form_.values.size()));
    form_.first_value.push_back(static_cast<int>(form_.values.size()));
    form_.values.insert(form_.values.end(), results.begin(), results.end());
    return "";
  }

  static bool is_sum(const FusedStep& step, const std::vector<TensorType>& operands,
                     const TensorType& result, const std::vector<char>& inside) {
    if (fusion_role(step.op) != FusionRole::product) return false;
    const auto product = product_in_loop(step.attributes, operands, result, inside);
    return product && product->kind != LoopProductKind::points;
  }

  std::size_t outside_;
  spmd::FusedSpace whole_;
  FusedForm form_;
};

std::int64_t product_of(const Shape& shape, std::size_t first, std::size_t last) {
  return element_count(std::span(shape).subspan(first, last - first));
}

}  // namespace

FusionRole fusion_role(Op op) {
  const auto row = std::find_if(role_rows.begin(), role_rows.end(),
                                [&](const RoleRow& one) { return one.op == op; });
  if (row != role_rows.end()) return row->role;
  return def(op).is_elementwise ? FusionRole::pointwise : FusionRole::none;
}

std::int64_t FusedForm::rows() const {
  return row_dims < 0 ? 1 : product_of(shape, 0, static_cast<std::size_t>(row_dims));
}

std::int64_t FusedForm::groups() const {
  return group_dims < 0 ? 1 : product_of(shape, 0, static_cast<std::size_t>(group_dims));
}

std::int64_t FusedForm::columns() const {
  return product_of(shape, static_cast<std::size_t>(std::max(row_dims, 0)), shape.size());
}

bool FusedForm::is_by_row(const Shape& result) const {
  return row_dims >= 0 && result.size() == static_cast<std::size_t>(row_dims);
}

FusedFormResult fused_form(std::span<const TensorType> operands, std::span<const FusedStep> steps) {
  if (steps.empty()) return std::string("it has no steps");
  FormBuilder builder(operands);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string problem;
    try {
      problem = builder.add(steps[i]);
    } catch (const InternalError&) {
      // Rules ask for attributes by name and type; in a text written by hand they may be missing.
      problem = "attributes of this op are missing or of another type: '" +
                to_string(steps[i].attributes) + "'";
    }
    if (!problem.empty()) return fmt::format("step {} ({}): {}", i, def(steps[i].op).name, problem);
  }
  return std::move(builder).form();
}

std::string fused_name(const Instruction& instruction) {
  bool has_products = false;
  for (const FusedStep& step : instruction.steps) {
    if (fusion_role(step.op) != FusionRole::product) continue;
    has_products = true;
    const bool is_left = step.operands[0] >= static_cast<int>(instruction.operands.size());
    const bool is_right = step.operands[1] >= static_cast<int>(instruction.operands.size());
    // Its points' rows are what it sums over: they are right behind the batch dims.
    const auto groups = static_cast<std::int64_t>(step.attributes.integers("lhs_batch").size());
    const char* const summed = is_left ? "lhs_contract" : "rhs_contract";
    if ((is_left || is_right) && step.attributes.integers(summed).front() == groups)
      return "fused attention gradient";
  }
  if (has_products) return "fused attention";
  return "fused " + std::string(def(instruction.steps.back().op).name);
}

namespace spmd {
namespace {

std::optional<FusedSpace> pointwise_space(std::span<const TensorType> operands,
                                          const TensorType& result, std::span<const char> inside) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_scalar = operands[i].shape.empty() && inside[i] == 0;
    if (!is_scalar && operands[i].shape != result.shape) return std::nullopt;
  }
  return FusedSpace{result.shape, -1};
}

std::optional<FusedSpace> product_space(const Attributes& attributes,
                                        std::span<const TensorType> operands,
                                        const TensorType& result, std::span<const char> inside) {
  const auto product = product_in_loop(attributes, operands, result, inside);
  if (!product) return std::nullopt;
  return FusedSpace{product->shape, product->row_dims, product->group_dims};
}

std::optional<FusedSpace> row_space(const Attributes& attributes, const TensorType& operand,
                                    const TensorType& result) {
  std::vector<std::int64_t> dims = attributes.integers("dims");
  std::sort(dims.begin(), dims.end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<std::int64_t>(result.shape.size() + i)) return std::nullopt;
  }
  if (dims.empty() || result.shape.empty()) return std::nullopt;
  return FusedSpace{operand.shape, result.rank()};
}

}  // namespace

std::optional<FusedSpace> space_of(Op op, const Attributes& attributes,
                                   std::span<const TensorType> operands, const TensorType& result,
                                   std::span<const char> inside) {
  if (result.shape.empty()) return std::nullopt;
  switch (fusion_role(op)) {
    case FusionRole::none:
      return std::nullopt;
    case FusionRole::pointwise:
      return pointwise_space(operands, result, inside);
    case FusionRole::fill:
    case FusionRole::position:
      return FusedSpace{result.shape, -1};
    case FusionRole::by_row:
      return row_space(attributes, operands.front(), result);
    case FusionRole::product:
      return product_space(attributes, operands, result, inside);
    case FusionRole::spread:
      break;
  }
  if (inside.front() == 0) return FusedSpace{result.shape, -1};
  const Shape& rows = operands.front().shape;
  const bool is_over_rows = !rows.empty() && rows.size() < result.shape.size() &&
                            are_leading(attributes.integers("dims")) &&
                            begins_with(result.shape, rows);
  if (!is_over_rows) return std::nullopt;
  return FusedSpace{result.shape, static_cast<int>(rows.size())};
}

std::optional<FusedSpace> joined(const FusedSpace& a, const FusedSpace& b) {
  if (a.shape.size() > b.shape.size()) return joined(b, a);
  if (!begins_with(b.shape, a.shape)) return std::nullopt;
  if (a.shape.size() == b.shape.size()) {
    if (a.row_dims >= 0 && b.row_dims >= 0 && a.row_dims != b.row_dims) return std::nullopt;
    if (a.group_dims >= 0 && b.group_dims >= 0 && a.group_dims != b.group_dims) return std::nullopt;
    return FusedSpace{a.shape, std::max(a.row_dims, b.row_dims),
                      std::max(a.group_dims, b.group_dims)};
  }
  const int rows = static_cast<int>(a.shape.size());
  if (a.row_dims >= 0 || (b.row_dims >= 0 && b.row_dims != rows)) return std::nullopt;
  return FusedSpace{b.shape, rows, b.group_dims};
}

}  // namespace spmd
}  // namespace shard
