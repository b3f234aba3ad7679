#pragma once
// The unsharded reference: separate plain loops over the *unpartitioned* graph, in double
// precision, sharing no kernel, no plan and no collective with the executor. Slow on purpose and
// easy to check by eye. Values of 16 and 8 bits are rounded to their format, as any machine that
// stores them does: what follows from that rounding is the model's doing, not the sharding's.

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "base/host_tensor.h"
#include "model/graph.h"

namespace shard {

/// Evaluates `graph` on whole arrays, one per graph input; returns one array per graph output,
/// rounded once to its dtype. Region bodies run `times` times.
std::vector<HostTensor> run_reference(const Graph& graph, const std::vector<HostTensor>& inputs);

/// The same, but values of 16 and 8 bits are rounded up or down at random: what another correct run
/// might give, whose sums are cut into other parts. Where runs differ much, results hang on
/// rounding.
std::vector<HostTensor> run_reference_rounded_anyhow(const Graph& graph,
                                                     const std::vector<HostTensor>& inputs,
                                                     std::mt19937_64& random);

/// Called with every value as it is made, the inputs first: the iteration of each loop around it,
/// outermost first, counted as the loops run; its numbers, before they are rounded to its dtype.
using ReferenceWatch =
    std::function<void(ValueId value, const std::vector<std::int64_t>& iterations,
                       const std::vector<double>& numbers)>;
void watch_reference(const Graph& graph, const std::vector<HostTensor>& inputs,
                     const ReferenceWatch& watch);

/// Bytes the reference needs for `graph` (values are freed after their last use); for refusing
/// before allocating.
Bytes reference_bytes(const Graph& graph);

}  // namespace shard
