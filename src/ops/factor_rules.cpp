#include "ops/factor_rules.h"

#include <algorithm>

#include "ops/dims.h"
#include "ops/rule_builder.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

std::int64_t size_at(const TensorType& type, std::int64_t dim) {
  return type.shape[static_cast<std::size_t>(dim)];
}

FactorRule reduce_rule(Types operands, Types results, const Attributes& attributes,
                       Reduction reduction) {
  RuleBuilder rule(operands, results);
  const Dims& dims = attributes.integers("dims");
  std::int64_t kept = 0;
  for (int dim = 0; dim < operands[0].rank(); ++dim) {
    const bool is_reduced = contains(dims, dim);
    rule.add(size_at(operands[0], dim),
             is_reduced ? FactorKind::reduction : FactorKind::pass_through)
        .on_operand(0, dim);
    if (!is_reduced) rule.on_result(0, kept++);
  }
  return rule.combine(reduction).take();
}

}  // namespace

FactorRule pointwise_rule(Types operands, Types results, const Attributes&) {
  RuleBuilder rule(operands, results);
  const TensorType& shape = results[0];
  for (int dim = 0; dim < shape.rank(); ++dim) {
    rule.add(size_at(shape, dim));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].rank() > 0) rule.on_operand(i, dim);
    }
    for (std::size_t i = 0; i < results.size(); ++i) rule.on_result(i, dim);
  }
  return rule.take();
}

FactorRule dot_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const Dims* batch[2] = {&attributes.integers("lhs_batch"), &attributes.integers("rhs_batch")};
  const Dims* contract[2] = {&attributes.integers("lhs_contract"),
                             &attributes.integers("rhs_contract")};
  std::int64_t out = 0;
  for (std::size_t i = 0; i < batch[0]->size(); ++i) {
    rule.add(size_at(operands[0], (*batch[0])[i]));
    rule.on_operand(0, (*batch[0])[i]).on_operand(1, (*batch[1])[i]).on_result(0, out++);
  }
  for (std::size_t side = 0; side < 2; ++side) {
    for (int dim = 0; dim < operands[side].rank(); ++dim) {
      if (contains(*batch[side], dim) || contains(*contract[side], dim)) continue;
      rule.add(size_at(operands[side], dim)).on_operand(side, dim).on_result(0, out++);
    }
  }
  for (std::size_t i = 0; i < contract[0]->size(); ++i) {
    rule.add(size_at(operands[0], (*contract[0])[i]), FactorKind::reduction);
    rule.on_operand(0, (*contract[0])[i]).on_operand(1, (*contract[1])[i]);
  }
  return rule.combine(Reduction::sum).take();
}

FactorRule sum_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::sum);
}

FactorRule max_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::max);
}

FactorRule min_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::min);
}

FactorRule prod_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::prod);
}

FactorRule and_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::min);
}

FactorRule or_rule(Types operands, Types results, const Attributes& attributes) {
  return reduce_rule(operands, results, attributes, Reduction::max);
}

FactorRule transpose_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const Dims& order = attributes.integers("order");
  for (std::size_t dim = 0; dim < order.size(); ++dim) {
    rule.add(results[0].shape[dim]).on_operand(0, order[dim]);
    rule.on_result(0, static_cast<std::int64_t>(dim));
  }
  return rule.take();
}

FactorRule broadcast_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const Dims& dims = attributes.integers("dims");
  for (int dim = 0; dim < results[0].rank(); ++dim) {
    const std::int64_t size = size_at(results[0], dim);
    const auto mapped = std::find(dims.begin(), dims.end(), dim);
    const std::int64_t source = mapped - dims.begin();
    if (mapped == dims.end()) {
      rule.add(size).on_result(0, dim);
    } else if (size_at(operands[0], source) == size) {
      rule.add(size).on_operand(0, source).on_result(0, dim);
    } else {
      rule.add(1).on_operand(0, source);
      rule.add(size).on_result(0, dim);
    }
  }
  return rule.take();
}

}  // namespace shard
