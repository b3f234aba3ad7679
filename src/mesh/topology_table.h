#pragma once
// The hardware that topology names are made of: TPU generations and GPU nodes, as data.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/device.h"

namespace shard {

/// One TPU generation. Figures from the Cloud TPU documentation and MaxText's topology names.
struct TpuGeneration {
  std::string_view name;                    ///< `v5e`
  std::array<std::string_view, 3> aliases;  ///< other words in topology names
  std::string_view kind;                    ///< JAX's device kind
  int torus_rank;
  std::int64_t counted_per_chip;           ///< what the number in `v4-128` counts
  std::int64_t devices_per_chip;           ///< JAX devices
  std::int64_t ring_edge;                  ///< a 2D axis of this many chips closes into a ring
  std::int64_t most_cubes;                 ///< 3D: sizes are whole cubes of 4x4x4, up to this many
  std::int64_t most_listed_cubes;          ///< every count up to here is offered by size
  std::array<std::int64_t, 4> more_cubes;  ///< and these; 0 for none
  std::span<const Grid> small;             ///< slices that are not whole cubes; 2D: all
};

std::span<const TpuGeneration> tpu_generations();

/// By name or alias, case ignored; nullptr for an unknown word.
const TpuGeneration* tpu_generation_named(std::string_view word);

/// The boxes that `NAME-SIZE` can mean, by growing number of chips.
std::vector<Grid> sized_grids(const TpuGeneration& generation);

/// Whether a slice can be this box, whichever way it is turned.
bool has_grid(const TpuGeneration& generation, const Grid& grid);

/// A GPU by its node.
struct GpuNode {
  std::string_view name;  ///< `h100`
  std::string_view kind;  ///< JAX's device kind
  std::int64_t host;      ///< GPUs of one host
  std::int64_t domain;    ///< GPUs that one NVLink switch fabric joins
};

std::span<const GpuNode> gpu_nodes();

/// By name, case ignored; nullptr for an unknown word.
const GpuNode* gpu_node_named(std::string_view word);

}  // namespace shard
