#pragma once
// The numbers a run starts from, and those it leaves behind.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "cli/options.h"
#include "exec/cluster.h"
#include "report/plan.h"
#include "text/files.h"

namespace shard {

/// Values for every argument of every function of the plan. State that no file gives is not held:
/// it is a function of the seed, and computed where it is wanted.
struct RunArrays {
  const Model* model = nullptr;
  std::uint64_t seed = 0;
  std::vector<std::optional<HostTensor>> given;  ///< one per Model::state
  std::vector<NamedTensor> inputs;               ///< the data inputs by path

  HostTensor argument(const GraphInput& input) const;
  const HostTensor& data(const std::string& path) const;
};

/// Initial values from the seed, or those of `--params` and `--inputs`. A file must hold every
/// parameter (every data input); other leaves of the state may be absent and start as usual.
/// Throws `Error`: `missing-array`, `unknown-array` (nearest), `array-mismatch`, what
/// `read_safetensors` throws.
RunArrays make_arrays(const Plan& plan, const Options& options, std::int64_t seed);

/// Writes the arguments of `graph` to the devices that run it, with no more than one array in host
/// memory beside those that `arrays` holds.
void feed(Cluster& cluster, const Graph& graph, const RunArrays& arrays);

/// The arguments of `graph` in its order.
std::vector<HostTensor> arguments_of(const Graph& graph, const RunArrays& arrays);

}  // namespace shard
