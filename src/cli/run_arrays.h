#pragma once
// The numbers a run starts from, and those it leaves behind.

#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "cli/options.h"
#include "report/plan.h"
#include "text/files.h"

namespace shard {

/// Values for every argument of every function of the plan.
struct RunArrays {
  std::vector<HostTensor> state;    ///< one per Model::state
  std::vector<NamedTensor> inputs;  ///< the data inputs by path

  const HostTensor& argument(const GraphInput& input) const;
};

/// Initial values from the seed, or those of `--params` and `--inputs`. A file must hold every
/// parameter (every data input); other leaves of the state may be absent and start as usual.
/// Throws `Error`: `missing-array`, `unknown-array` (nearest), `array-mismatch`, what
/// `read_safetensors` throws.
RunArrays make_arrays(const Plan& plan, const Options& options, std::int64_t seed);

/// The arguments of `graph` in its order.
std::vector<HostTensor> arguments_of(const Graph& graph, const RunArrays& arrays);

}  // namespace shard
