#pragma once
// With which axes an op is computed when its operands and results are not split alike: one list of
// axes per factor, the same in every tensor that has the factor.

#include <vector>

#include "base/tensor_type.h"
#include "mesh/mesh.h"
#include "ops/factors.h"
#include "spmd/axes.h"

namespace shard::spmd {

/// The choice for one op.
struct CommonFactors {
  AxesPerDim factors;               ///< by factor
  std::vector<AxesPerDim> tensors;  ///< operands, then results: their axes while the op runs
  Axes reduced;                     ///< axes of reduction factors, in mesh order: partial results

  friend bool operator==(const CommonFactors&, const CommonFactors&) = default;
};

/// `shapes` and `axes` are those of the operands, then of the results (global; canonical axes).
/// Operands that already agree are left alone. Otherwise an op with one operand and one result
/// follows the larger, more split tensor, and any other op takes the axes on which most elements
/// agree, factor by factor; of equally good axes those whose names come later in the alphabet.
/// Source: Shardy's explicit-reshard pass (openxla/shardy, 2025).
CommonFactors choose_common_factors(const FactorRule& rule, const std::vector<Shape>& shapes,
                                    const std::vector<AxesPerDim>& axes, const Mesh& mesh);

/// Other choices worth weighing: for each tensor the one that leaves it as it is and takes for the
/// other factors what the other tensors agree on, each of these without partial results too, and
/// the one that leaves everything whole. All are legal for the rule.
std::vector<CommonFactors> candidate_factors(const FactorRule& rule,
                                             const std::vector<Shape>& shapes,
                                             const std::vector<AxesPerDim>& axes);

}  // namespace shard::spmd
