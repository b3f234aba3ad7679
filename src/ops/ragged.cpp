// Products of rows by the matrix of their group, and what their derivatives need: everything about
// the two ops but their kernels.

#include "ops/ragged.h"

#include "ops/composed.h"
#include "ops/rule_builder.h"
#include "ops/shape_mistakes.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;

std::string counts_mistake(const TensorType& counts) {
  if (counts.rank() == 1 && is_whole(counts.dtype)) return "";
  return "the counts are " + to_string(counts) + ", not a list of integers";
}

std::string rank_mistake(const TensorType& type, int rank, const char* what) {
  if (type.rank() == rank) return "";
  return std::string(what) + " are " + to_string(type) + ", not of rank " + std::to_string(rank);
}

std::string size_mistake(const char* what, std::int64_t one, std::int64_t other) {
  if (one == other) return "";
  return std::string(what) + " differ: " + std::to_string(one) + " and " + std::to_string(other);
}

template <class... Mistakes>
std::string first_mistake(const Mistakes&... mistakes) {
  std::string first;
  ((first = first.empty() ? mistakes : first), ...);
  return first;
}

std::string dtype_mistake(const TensorType& x, const TensorType& y) {
  if (x.dtype == y.dtype) return complex_mistake(std::span(&x, 1));
  return "dtypes differ: " + dtype_word(x.dtype) + " and " + dtype_word(y.dtype);
}

/// The number of parts that the groups are in, by the local form's attributes.
double group_parts(const Attributes& attributes) {
  return static_cast<double>(LocalParts(attributes).count(ragged_groups));
}

void set_ragged_parts(Attributes& attributes, const DimPart& row_part, const DimPart& group_part) {
  std::vector<std::int64_t> dims, strides, sizes;
  for (const auto& [dim, part] :
       {std::pair{ragged_rows, &row_part}, {ragged_groups, &group_part}}) {
    dims.insert(dims.end(), part->sizes.size(), dim);
    strides.insert(strides.end(), part->strides.begin(), part->strides.end());
    sizes.insert(sizes.end(), part->sizes.begin(), part->sizes.end());
  }
  if (dims.empty()) return;
  attributes.set("part_dims", std::move(dims));
  attributes.set("part_strides", std::move(strides));
  attributes.set("part_sizes", std::move(sizes));
}

}  // namespace

ShapeResult ragged_dot_shape(Types operands, const Attributes&) {
  const TensorType &x = operands[0], &matrices = operands[1], &counts = operands[2];
  std::string mistake =
      first_mistake(dtype_mistake(x, matrices), rank_mistake(x, 2, "the rows"),
                    rank_mistake(matrices, 3, "the matrices"), counts_mistake(counts));
  if (!mistake.empty()) return mistake;
  mistake = size_mistake("contracted sizes", x.shape[1], matrices.shape[1]);
  if (!mistake.empty()) return mistake;
  return one_result({x.dtype, {x.shape[0], matrices.shape[2]}});
}

ShapeResult ragged_outer_shape(Types operands, const Attributes& attributes) {
  const TensorType &x = operands[0], &y = operands[1], &counts = operands[2];
  std::string mistake = first_mistake(dtype_mistake(x, y), rank_mistake(x, 2, "the rows"),
                                      rank_mistake(y, 2, "the other rows"), counts_mistake(counts));
  if (!mistake.empty()) return mistake;
  mistake = size_mistake("contracted sizes", x.shape[0], y.shape[0]);
  if (!mistake.empty()) return mistake;
  return one_result({x.dtype, {attributes.integer("groups"), x.shape[1], y.shape[1]}});
}

FactorRule ragged_dot_rule(Types operands, Types results, const Attributes&) {
  RuleBuilder rule(operands, results);
  rule.add(operands[0].shape[0]).on_operand(0, 0).on_result(0, 0);
  rule.add(operands[1].shape[2]).on_operand(1, 2).on_result(0, 1);
  rule.add(operands[0].shape[1], FactorKind::reduction).on_operand(0, 1).on_operand(1, 1);
  rule.add(operands[1].shape[0], FactorKind::reduction).on_operand(1, 0);
  rule.add(operands[2].shape[0], FactorKind::need_replication).on_operand(2, 0);
  return rule.combine(Reduction::sum).take();
}

FactorRule ragged_outer_rule(Types operands, Types results, const Attributes&) {
  RuleBuilder rule(operands, results);
  rule.add(operands[0].shape[1]).on_operand(0, 1).on_result(0, 1);
  rule.add(operands[1].shape[1]).on_operand(1, 1).on_result(0, 2);
  rule.add(results[0].shape[0]).on_result(0, 0);
  rule.add(operands[0].shape[0], FactorKind::reduction).on_operand(0, 0).on_operand(1, 0);
  rule.add(operands[2].shape[0], FactorKind::need_replication).on_operand(2, 0);
  return rule.combine(Reduction::sum).take();
}

double ragged_dot_flops(Types operands, Types results, const Attributes& attributes) {
  return 2.0 * static_cast<double>(element_count(results[0].shape)) *
         static_cast<double>(operands[0].shape[1]) / group_parts(attributes);
}

double ragged_outer_flops(Types operands, Types, const Attributes& attributes) {
  return 2.0 * static_cast<double>(element_count(operands[0].shape)) *
         static_cast<double>(operands[1].shape[1]) / group_parts(attributes);
}

Attributes ragged_dot_form(const LocalSite& site) {
  Attributes local = site.attributes;
  set_ragged_parts(local, site.operand_parts[0][0], site.operand_parts[1][0]);
  return local;
}

Attributes ragged_outer_form(const LocalSite& site) {
  Attributes local = site.attributes;
  local.set("groups", site.results[0].shape[0]);
  set_ragged_parts(local, site.operand_parts[0][0], site.result_parts[0][0]);
  return local;
}

std::vector<ValueId> ragged_dot_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId x = input.operands[0], matrices = input.operands[1], counts = input.operands[2];
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) {
    const ValueId turned = b.emit(Op::transpose, {matrices},
                                  Attributes{{"order", std::vector<std::int64_t>{0, 2, 1}}});
    out[0] = b.emit(Op::ragged_dot, {input.cotangents[0], turned, counts});
  }
  if (input.wants(1)) {
    out[1] = b.emit(Op::ragged_outer, {x, input.cotangents[0], counts},
                    Attributes{{"groups", b.type(matrices).shape[0]}});
  }
  return out;
}

std::vector<ValueId> ragged_outer_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId x = input.operands[0], y = input.operands[1], counts = input.operands[2];
  std::vector<ValueId> out(3, ValueId::none);
  if (input.wants(0)) {
    const ValueId turned = b.emit(Op::transpose, {input.cotangents[0]},
                                  Attributes{{"order", std::vector<std::int64_t>{0, 2, 1}}});
    out[0] = b.emit(Op::ragged_dot, {y, turned, counts});
  }
  if (input.wants(1)) out[1] = b.emit(Op::ragged_dot, {x, input.cotangents[0], counts});
  return out;
}

}  // namespace shard
