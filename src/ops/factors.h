#pragma once
// Factor rules: what an op does to dimensions, in the field's einsum-like form (Shardy's op
// sharding rule). `dot`: ([i,k],[k,j]) -> ([i,j]) with k a reduction factor. The rule drives
// propagation, partitioning, labels and flops; no stage knows ops otherwise.

#include <cstdint>
#include <string>
#include <vector>

namespace shard {

enum class FactorKind {
  pass_through,      ///< sharding it shards the computation
  reduction,         ///< in operands only: sharding it leaves partial results
  need_replication,  ///< must be whole to compute
  permutation,       ///< sharding it needs neighbours' data
};

enum class Reduction { none, sum, max, min, prod };

struct Factor {
  std::int64_t size = 1;
  FactorKind kind = FactorKind::pass_through;
  bool is_blocked = false;  ///< never propagates
  /// Whatever its kind, a part of the result needs other parts of the operands than its own.
  bool needs_neighbours = false;

  friend bool operator==(const Factor&, const Factor&) = default;
};

/// Per dim of a tensor its factors (indices into `FactorRule::factors`), major to minor.
using TensorFactors = std::vector<std::vector<int>>;

/// Factors are numbered in the order they are created; ties in propagation are broken by that
/// number.
struct FactorRule {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  Reduction reduction = Reduction::none;  ///< how partial results of reduction factors combine

  friend bool operator==(const FactorRule&, const FactorRule&) = default;
};

/// `([i, k],[k, j]) -> ([i, j]) red={k}` with letters i, j, ..., z, z_1, ... in index order.
std::string to_string(const FactorRule& rule);

/// Product of all factor sizes that occur: the points an op visits. Saturates at 2^62.
std::int64_t factor_points(const FactorRule& rule);

}  // namespace shard
