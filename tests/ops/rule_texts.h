#pragma once
// What the rules of an op say, as texts.

#include <string>
#include <variant>
#include <vector>

#include "ops/factors.h"
#include "ops/op.h"

namespace shard::tests {

inline TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }
inline TensorType i32(Shape shape) { return {DType::i32, std::move(shape)}; }

/// The result types or, if the rule refuses, its sentence.
inline std::string shape(Op op, const std::vector<TensorType>& operands,
                         const Attributes& attributes = {}) {
  const ShapeResult result = def(op).shape_rule(operands, attributes);
  if (const auto* mistake = std::get_if<std::string>(&result)) return *mistake;
  std::string text;
  for (const TensorType& type : std::get<std::vector<TensorType>>(result)) {
    text += (text.empty() ? "" : " ") + to_string(type);
  }
  return text;
}

inline std::string rule(Op op, const std::vector<TensorType>& operands,
                        const Attributes& attributes = {}) {
  return to_string(factor_rule(op, operands, result_types(op, operands, attributes), attributes));
}

}  // namespace shard::tests
