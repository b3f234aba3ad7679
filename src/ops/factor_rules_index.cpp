// Factor rules of ops that look elements up, order them or run along a dim.

#include <map>

#include "ops/factor_rules.h"
#include "ops/index_dims.h"
#include "ops/rule_builder.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

std::int64_t size_of_dim(const TensorType& type, std::int64_t dim) {
  return type.shape[static_cast<std::size_t>(dim)];
}

/// The dim of the array that is paired with each batch dim of the indices.
std::map<std::int64_t, std::int64_t> paired_dims(const IndexDims& dims) {
  std::map<std::int64_t, std::int64_t> paired;
  for (std::size_t i = 0; i < dims.batch.size(); ++i) paired[dims.index_batch[i]] = dims.batch[i];
  return paired;
}

/// The dim that holds the index vectors must be whole.
void add_vector(RuleBuilder& rule, const IndexDims& dims, const TensorType& indices) {
  if (dims.vector >= indices.rank()) return;
  rule.add(size_of_dim(indices, dims.vector), FactorKind::need_replication)
      .on_operand(1, dims.vector);
}

/// A window dim of the result: shared when whole; of size 1, the array is looked up along it; else
/// one factor that does not propagate.
void add_gather_window(RuleBuilder& rule, const TensorType& array, std::int64_t dim,
                       const TensorType& result, std::int64_t result_dim) {
  const std::int64_t whole = size_of_dim(array, dim), part = size_of_dim(result, result_dim);
  if (whole == part) {
    rule.add(whole).on_operand(0, dim).on_result(0, result_dim);
  } else if (part == 1) {
    rule.add(whole, FactorKind::reduction).on_operand(0, dim);
    rule.add(part, FactorKind::need_replication).on_result(0, result_dim);
  } else {
    rule.add(whole, FactorKind::need_replication).block();
    rule.on_operand(0, dim).on_result(0, result_dim);
  }
}

/// A window dim of the updates: shared when whole, else a factor on either side.
void add_scatter_window(RuleBuilder& rule, const TensorType& array, std::int64_t dim,
                        const TensorType& updates, std::int64_t update_dim) {
  const std::int64_t whole = size_of_dim(array, dim), part = size_of_dim(updates, update_dim);
  const bool is_whole = whole == part;
  rule.add(whole, is_whole ? FactorKind::pass_through : FactorKind::need_replication);
  rule.on_operand(0, dim).on_result(0, dim);
  if (!is_whole) rule.add(part, FactorKind::need_replication);
  rule.on_operand(2, update_dim);
}

FactorRule scatter_rule(Types operands, Types results, const Attributes& attributes,
                        Reduction reduction) {
  RuleBuilder rule(operands, results);
  const IndexDims dims(attributes);
  const TensorType &array = operands[0], &indices = operands[1], &updates = operands[2];
  const Dims windowed = dims.windowed(array.rank()), index = dims.index_dims(indices.rank());
  const auto paired = paired_dims(dims);
  const FactorKind summed =
      reduction == Reduction::none ? FactorKind::need_replication : FactorKind::reduction;
  std::size_t window = 0, batch = 0;
  for (std::int64_t dim = 0; dim < updates.rank(); ++dim) {
    if (std::find(dims.window.begin(), dims.window.end(), dim) != dims.window.end()) {
      add_scatter_window(rule, array, windowed[window++], updates, dim);
      continue;
    }
    const std::int64_t index_dim = index[batch++];
    const auto pair = paired.find(index_dim);
    rule.add(size_of_dim(updates, dim), pair == paired.end() ? summed : FactorKind::pass_through);
    if (pair != paired.end()) rule.on_operand(0, pair->second).on_result(0, pair->second);
    rule.on_operand(1, index_dim).on_operand(2, dim);
  }
  for (const std::int64_t dim : dims.collapsed) {
    rule.add(size_of_dim(array, dim)).on_operand(0, dim).on_result(0, dim);
  }
  add_vector(rule, dims, indices);
  return rule.combine(reduction).take();
}

/// One factor per dim, shared by all arrays; that of `line` has `kind`.
FactorRule line_rule(Types operands, Types results, std::int64_t line, FactorKind kind,
                     bool is_blocked) {
  RuleBuilder rule(operands, results);
  for (std::int64_t dim = 0; dim < operands[0].rank(); ++dim) {
    rule.add(size_of_dim(operands[0], dim), dim == line ? kind : FactorKind::pass_through);
    if (dim == line && is_blocked) rule.block();
    rule.everywhere(dim);
  }
  return rule.take();
}

}  // namespace

FactorRule gather_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const IndexDims dims(attributes);
  const TensorType &array = operands[0], &indices = operands[1], &result = results[0];
  const Dims windowed = dims.windowed(array.rank()), index = dims.index_dims(indices.rank());
  const auto paired = paired_dims(dims);
  std::size_t window = 0, batch = 0;
  for (std::int64_t dim = 0; dim < result.rank(); ++dim) {
    if (std::find(dims.window.begin(), dims.window.end(), dim) != dims.window.end()) {
      add_gather_window(rule, array, windowed[window++], result, dim);
      continue;
    }
    const std::int64_t index_dim = index[batch++];
    const auto pair = paired.find(index_dim);
    rule.add(size_of_dim(result, dim));
    if (pair != paired.end()) rule.on_operand(0, pair->second);
    rule.on_operand(1, index_dim).on_result(0, dim);
  }
  for (const std::int64_t dim : dims.collapsed) {
    const std::int64_t size = size_of_dim(array, dim);
    rule.add(size, size > 1 ? FactorKind::reduction : FactorKind::need_replication);
    rule.on_operand(0, dim);
  }
  add_vector(rule, dims, indices);
  return rule.combine(Reduction::sum).take();
}

FactorRule scatter_add_rule(Types operands, Types results, const Attributes& attributes) {
  return scatter_rule(operands, results, attributes, Reduction::sum);
}
FactorRule scatter_mul_rule(Types operands, Types results, const Attributes& attributes) {
  return scatter_rule(operands, results, attributes, Reduction::prod);
}
FactorRule scatter_max_rule(Types operands, Types results, const Attributes& attributes) {
  return scatter_rule(operands, results, attributes, Reduction::max);
}
FactorRule scatter_min_rule(Types operands, Types results, const Attributes& attributes) {
  return scatter_rule(operands, results, attributes, Reduction::min);
}
FactorRule scatter_set_rule(Types operands, Types results, const Attributes& attributes) {
  return scatter_rule(operands, results, attributes, Reduction::none);
}

FactorRule arg_extremum_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  std::int64_t kept = 0;
  for (std::int64_t dim = 0; dim < operands[0].rank(); ++dim) {
    const bool is_line = dim == attributes.integer("dim");
    rule.add(size_of_dim(operands[0], dim),
             is_line ? FactorKind::reduction : FactorKind::pass_through);
    rule.on_operand(0, dim);
    if (!is_line) rule.on_result(0, kept++);
  }
  return rule.take();
}

FactorRule cumulative_rule(Types operands, Types results, const Attributes& attributes) {
  return line_rule(operands, results, attributes.integer("dim"), FactorKind::permutation, false);
}

FactorRule sort_rule(Types operands, Types results, const Attributes& attributes) {
  const std::int64_t line = attributes.integer("dim");
  bool is_alone = true;
  for (std::int64_t dim = 0; dim < operands[0].rank(); ++dim) {
    if (dim != line && size_of_dim(operands[0], dim) > 1) is_alone = false;
  }
  return line_rule(operands, results, line, FactorKind::need_replication, is_alone);
}

}  // namespace shard
