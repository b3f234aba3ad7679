#pragma once
// Where a run leaves the unsharded reference: the first value, in the order of the program, that
// differs; of a value in a loop's body with its iteration.
//
// The step is done once more while every device's part of every value is compared as soon as it is
// written, before its place is used again. Partial sums and copies in another sharding are left
// out: they are no value of the reference. Values differ clearly when they are beyond a hundred
// tolerances (what is small by cancellation is beyond one without any fault); only where none does,
// the first beyond one tolerance is meant. Floating results of an update are left out, they hang on
// signs of gradients that may be undetermined (see exec/compare_step.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "model/graph.h"

namespace shard {

struct FirstDifference {
  std::string name;                      ///< of the value: `DotReluDot_0/W2`
  TensorType type;                       ///< whole
  std::string spec;                      ///< how it is split
  std::vector<std::int64_t> iterations;  ///< of the loops around it, outermost first, from 0
  int instruction = 0;                   ///< of its body, counted from 0
  std::string label;                     ///< `dot`, `all_reduce model`
  std::vector<int> devices;              ///< whose parts differ
  std::int64_t elements = 0;             ///< that differ, of all parts together
  std::int64_t index = 0;  ///< row-major in the whole, of the first on the first of the devices
  double found = 0;        ///< there
  double expected = 0;
  bool is_non_finite = false;  ///< NaN or infinite where the reference is finite
  bool is_shared = false;      ///< no difference: the reference is not finite there either
};

/// `graph` is what the reference runs on (its values are the first of those that `stored` has),
/// `shardings` are by ValueId; `inputs` are written to the cluster and left changed by a step.
/// Where no value differs, the first that is no number in both, or else infinite in both.
/// Nothing: all are equal and finite. Throws what `Cluster::run` throws.
std::optional<FirstDifference> first_difference(Cluster& cluster, const Graph& graph,
                                                const Graph& stored,
                                                const std::vector<Sharding>& shardings,
                                                const std::vector<HostTensor>& inputs);

/// Bytes that `first_difference` needs beside the arenas: the reference with all values kept.
Bytes first_difference_bytes(const Graph& graph);

/// `DotReluDot_0/W2 f32[8,64] P('data', None), made by instruction 8 (all_reduce model): 12
/// elements differ on device 3, first [0, 1]: 3.5, expected 0.25`.
std::string to_string(const FirstDifference& difference);

}  // namespace shard
