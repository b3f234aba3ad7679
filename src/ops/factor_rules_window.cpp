// Factor rules of convolutions and of reductions over windows.

#include <algorithm>

#include "ops/factor_rules.h"
#include "ops/rule_builder.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;

std::int64_t dim_size(const TensorType& type, std::int64_t dim) {
  return type.shape[static_cast<std::size_t>(dim)];
}

/// Every element is a window of its own along this dim.
bool is_untouched(const Windows& windows, std::size_t dim) {
  return windows.sizes[dim] == 1 && windows.strides[dim] == 1 && windows.low[dim] == 0 &&
         windows.high[dim] == 0 && windows.base_dilation[dim] == 1;
}

/// The windows and the elements of a window along one spatial dim share the dim of the array, the
/// larger of both first, within its size.
void add_spatial(RuleBuilder& rule, const ConvolutionDims& dims, std::size_t role, Types operands,
                 const TensorType& result) {
  std::int64_t left = dim_size(operands[0], dims.lhs[role]);
  const std::int64_t windows = dim_size(result, dims.out[role]);
  const std::int64_t elements = dim_size(operands[1], dims.rhs[role]);
  for (const bool is_windows : {windows >= elements, windows < elements}) {
    const std::int64_t size = std::min(is_windows ? windows : elements, left);
    if (size <= 1) continue;
    rule.add(size, is_windows ? FactorKind::permutation : FactorKind::reduction).need_neighbours();
    rule.on_operand(0, dims.lhs[role]);
    if (is_windows) {
      rule.on_result(0, dims.out[role]);
    } else {
      rule.on_operand(1, dims.rhs[role]);
    }
    left /= size;
  }
}

/// Groups split three dims alike.
void add_groups(RuleBuilder& rule, std::int64_t groups, std::int64_t lhs,
                const ConvolutionDims& dims) {
  if (groups <= 1) return;
  rule.add(groups).on_operand(0, lhs).on_operand(1, dims.rhs[0]).on_result(0, dims.out[1]);
}

}  // namespace

FactorRule convolution_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const ConvolutionDims dims = convolution_dims(attributes);
  add_groups(rule, dims.batch_groups, dims.lhs[0], dims);
  rule.add(dim_size(results[0], dims.out[0])).on_operand(0, dims.lhs[0]);
  rule.on_result(0, dims.out[0]);
  for (std::size_t i = 0; i < dims.spatial_count(); ++i) {
    add_spatial(rule, dims, i + 2, operands, results[0]);
  }
  add_groups(rule, dims.feature_groups, dims.lhs[1], dims);
  rule.add(dim_size(operands[1], dims.rhs[1]), FactorKind::reduction);
  rule.on_operand(0, dims.lhs[1]).on_operand(1, dims.rhs[1]);
  const std::int64_t features =
      dim_size(results[0], dims.out[1]) / (dims.feature_groups * dims.batch_groups);
  if (features > 1) rule.add(features).on_operand(1, dims.rhs[0]).on_result(0, dims.out[1]);
  return rule.combine(Reduction::sum).take();
}

FactorRule reduce_window_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const Windows windows = reduction_windows(attributes);
  for (std::size_t dim = 0; dim < operands[0].shape.size(); ++dim) {
    const bool is_plain = is_untouched(windows, dim);
    rule.add(results[0].shape[dim], is_plain ? FactorKind::pass_through : FactorKind::permutation);
    rule.everywhere(static_cast<std::int64_t>(dim));
  }
  return rule.take();
}

FactorRule select_and_scatter_add_rule(Types operands, Types results,
                                       const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const Windows windows = reduction_windows(attributes);
  for (std::size_t dim = 0; dim < operands[0].shape.size(); ++dim) {
    const bool is_plain = is_untouched(windows, dim);
    rule.add(operands[0].shape[dim], is_plain ? FactorKind::pass_through : FactorKind::permutation);
    rule.everywhere(static_cast<std::int64_t>(dim));
  }
  return rule.take();
}

FactorRule random_bits_rule(Types operands, Types results, const Attributes&) {
  RuleBuilder rule(operands, results);
  for (std::int64_t dim = 0; dim < results[0].rank(); ++dim) {
    rule.add(dim_size(results[0], dim)).on_result(0, dim);
  }
  return rule.take();
}

}  // namespace shard
