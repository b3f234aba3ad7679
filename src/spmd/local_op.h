#pragma once
// From an op on whole arrays to the op on a device's parts: which factors may be split at all, and
// what the attributes become.

#include <span>
#include <vector>

#include "mesh/mesh.h"
#include "ops/factors.h"
#include "ops/local_form.h"
#include "ops/op.h"
#include "shard/sharding.h"
#include "spmd/common_factors.h"

namespace shard::spmd {

/// The rule for choosing what each device computes. Kernels see a device's part alone, so factors
/// that need neighbours and sums that no collective combines must be whole.
FactorRule rule_of_parts(FactorRule rule);

/// Which part of a dim split over `axes` a device has.
DimPart part_along(const Mesh& mesh, const Axes& axes);

/// The attributes of an op whose operands and results are split as `common` says; `operands` and
/// `results` are local types.
Attributes local_attributes(const Mesh& mesh, Op op, const Attributes& attributes,
                            std::span<const TensorType> operands,
                            std::span<const TensorType> results, const CommonFactors& common);

}  // namespace shard::spmd
