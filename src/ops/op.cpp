#include "ops/op.h"

#include <unordered_map>

#include "base/check.h"
#include "ops/op_rows.h"

namespace shard {

std::span<const OpDef> op_table() { return op_rows(); }

const OpDef& def(Op op) {
  SHARD_CHECK(static_cast<std::size_t>(op) < op_rows().size(), "an Op is a row of the table");
  return op_rows()[static_cast<std::size_t>(op)];
}

std::optional<Op> op_named(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, Op> map;
    for (const OpDef& row : op_rows()) map.emplace(row.name, row.op);
    return map;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

std::vector<TensorType> result_types(Op op, std::span<const TensorType> operands,
                                     const Attributes& attributes) {
  const OpDef& row = def(op);
  SHARD_CHECK(row.shape_rule != nullptr, "the op has a shape rule");
  SHARD_CHECK(row.operand_count < 0 || static_cast<int>(operands.size()) == row.operand_count,
              "an op has as many operands as its row says");
  ShapeResult result = row.shape_rule(operands, attributes);
  if (const auto* mistake = std::get_if<std::string>(&result)) {
    throw InternalError(std::string(row.name) + " accepts its operands: " + *mistake);
  }
  return std::get<std::vector<TensorType>>(std::move(result));
}

double flops_of(Op op, std::span<const TensorType> operands, std::span<const TensorType> results,
                const Attributes& attributes) {
  const OpDef& row = def(op);
  if (row.flops != nullptr) return row.flops(operands, results, attributes);
  if (row.factor_rule == nullptr || row.flops_per_point == 0) return 0;
  return row.flops_per_point *
         static_cast<double>(factor_points(row.factor_rule(operands, results, attributes)));
}

FactorRule factor_rule(Op op, std::span<const TensorType> operands,
                       std::span<const TensorType> results, const Attributes& attributes) {
  const OpDef& row = def(op);
  SHARD_CHECK(row.factor_rule != nullptr, "the op has a factor rule");
  return row.factor_rule(operands, results, attributes);
}

}  // namespace shard
