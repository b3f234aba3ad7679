#pragma once
// Collects the factors of one op, as Shardy numbers them: in the order they are added.

#include <cstdint>
#include <utility>

#include "ops/op.h"

namespace shard {

/// Each `add` is followed by the dims that have the new factor.
class RuleBuilder {
 public:
  RuleBuilder(std::span<const TensorType> operands, std::span<const TensorType> results) {
    for (const TensorType& type : operands) rule_.operands.emplace_back(type.shape.size());
    for (const TensorType& type : results) rule_.results.emplace_back(type.shape.size());
  }

  RuleBuilder& add(std::int64_t size, FactorKind kind = FactorKind::pass_through) {
    rule_.factors.push_back({size, kind, false, false});
    return *this;
  }
  /// The factor just added never propagates.
  RuleBuilder& block() {
    rule_.factors.back().is_blocked = true;
    return *this;
  }
  /// The factor just added cannot be computed in parts that do not know each other.
  RuleBuilder& need_neighbours() {
    rule_.factors.back().needs_neighbours = true;
    return *this;
  }
  RuleBuilder& on_operand(std::size_t operand, std::int64_t dim) {
    return on(rule_.operands[operand], dim);
  }
  RuleBuilder& on_result(std::size_t result, std::int64_t dim) {
    return on(rule_.results[result], dim);
  }
  /// On this dim of every operand and result that is no scalar.
  RuleBuilder& everywhere(std::int64_t dim) {
    for (std::vector<TensorFactors>* side : {&rule_.operands, &rule_.results}) {
      for (TensorFactors& tensor : *side) {
        if (!tensor.empty()) on(tensor, dim);
      }
    }
    return *this;
  }
  /// These factors, by the order in which they were added, on a dim; major first.
  RuleBuilder& on_operand(std::size_t operand, std::int64_t dim,
                          const std::vector<std::size_t>& factors) {
    return on(rule_.operands[operand], dim, factors);
  }
  RuleBuilder& on_result(std::size_t result, std::int64_t dim,
                         const std::vector<std::size_t>& factors) {
    return on(rule_.results[result], dim, factors);
  }
  RuleBuilder& combine(Reduction reduction) {
    rule_.reduction = reduction;
    return *this;
  }

  /// Factors of size 1 leave dims that have others, as long as one stays; a dim without a factor
  /// gets one of size 1 of its own.
  FactorRule take() {
    for (std::vector<TensorFactors>* side : {&rule_.operands, &rule_.results}) {
      for (TensorFactors& tensor : *side) {
        for (std::vector<int>& dim : tensor) complete(dim);
      }
    }
    return std::move(rule_);
  }

 private:
  RuleBuilder& on(TensorFactors& tensor, std::int64_t dim) {
    tensor[static_cast<std::size_t>(dim)].push_back(static_cast<int>(rule_.factors.size()) - 1);
    return *this;
  }

  RuleBuilder& on(TensorFactors& tensor, std::int64_t dim,
                  const std::vector<std::size_t>& factors) {
    for (const std::size_t factor : factors) {
      tensor[static_cast<std::size_t>(dim)].push_back(static_cast<int>(factor));
    }
    return *this;
  }

  void complete(std::vector<int>& dim) {
    if (dim.size() > 1) {
      std::erase_if(dim, [&](int factor) {
        return rule_.factors[static_cast<std::size_t>(factor)].size == 1;
      });
    }
    if (!dim.empty()) return;
    dim.push_back(static_cast<int>(rule_.factors.size()));
    rule_.factors.push_back({1, FactorKind::pass_through, false, false});
  }

  FactorRule rule_;
};

}  // namespace shard
