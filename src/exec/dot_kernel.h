#pragma once
// Products of any batch, free and contracted dims, brought to a matrix product per batch element.

#include "exec/kernel.h"

namespace shard {

/// True when this `dot` is a float product that is neither few-row nor few-term, i.e. one that
/// OpenBLAS computes where it is found.
bool needs_many_rows(const KernelSite& site);

}  // namespace shard
