#pragma once
// Between dims and factors (spec section 6.7): handing a dim's axes out to its factors, and putting
// the factors' axes together again.

#include "ops/factors.h"
#include "shard/axes.h"
#include "shard/sharding.h"

namespace shard {

/// What one tensor says about one factor.
struct FactorShare {
  Axes axes;
  Axes overflow;  ///< axes of the dim that neither fit this factor nor may go to the next
  bool is_open = true;
  bool is_minor_most = true;  ///< the last factor of its dim: may be over-sharded
  bool is_present = false;    ///< the tensor has the factor
};

/// The shares of one tensor, by factor. Every dim of `sharding` is handed out major first; `shares`
/// must have one entry per factor and is overwritten (its memory is reused).
void project(const Sharding& sharding, const TensorFactors& layout,
             const std::vector<Factor>& factors, std::vector<FactorShare>& shares);

/// The axes of one dim from the shares of its factors. Stops after a factor with overflow axes or
/// one that is not fully sharded: a later factor would need a strided layout. `axes` is overwritten
/// (its memory is reused).
void unproject(const std::vector<FactorShare>& shares, const std::vector<int>& dim_factors,
               const std::vector<Factor>& factors, Axes& axes);

}  // namespace shard
