#pragma once
// Hardware by name: what `devices: v5e-256` stands for.
//
//   v5e-256  v6e-16  v5p-8  v4-128  tpu7x-16   TPU slice by size: v2, v3, v4, v5p and 7x count
//                                              cores, two to a chip; v5e and v6e count chips
//   v5p-2x2x4  v5e-4x8                         TPU slice by its box of chips
//   4xv5e-16                                   several slices, joined by the data centre network
//   8xh100  4x8xh100                           one node, or nodes x GPUs
//   cpu-8  2xcpu-4                             CPU devices, in one or several processes
//
// On v4 and v5p the two cores of a chip work as one device, so v4-128 is 64 devices.

#include <string>
#include <vector>

#include "mesh/device.h"

namespace shard {

/// As many devices as a mesh or what it stands on may have.
inline constexpr std::int64_t most_devices = std::int64_t{1} << 31;

struct Topology {
  std::string name;       ///< as written
  std::string chip;       ///< `v5e`, `h100`, `cpu`: the word `chip_named` knows
  std::string platform;   ///< `tpu`, `gpu`, `cpu`
  std::string kind;       ///< JAX's device kind
  Grid grid = {1, 1, 1};  ///< chips of one slice
  int torus_rank = 1;     ///< axes of the grid that have links; 1 for switched networks
  std::array<bool, 3> wraps = {false, false, false};  ///< a torus axis closes into a ring
  Grid host = {1, 1, 1};                              ///< chips of one process
  std::int64_t cores = 1;                             ///< devices per chip
  std::int64_t slices = 1;       ///< domains of fast links; CPUs: groups of processes
  bool has_slice_index = false;  ///< JAX tells the slice of a device

  std::int64_t chips_per_slice() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t devices_per_slice() const { return chips_per_slice() * cores; }
  std::int64_t device_count() const { return slices * devices_per_slice(); }
};

/// Reads a name; case does not matter. Throws `Error` `unknown-devices` with the nearest name that
/// exists, or `mesh-too-large` above 2^31 devices.
Topology topology_named(const std::string& name, const Location& at);

/// The devices as `jax.devices()` lists them: by process; ids count slice, z, y, x, core with the
/// core fastest. Throws `Error` `mesh-too-large` above a million devices.
std::vector<Device> devices_of(const Topology& topology, const Location& at);

/// Both in one step.
std::vector<Device> devices_of_topology(const std::string& name, const Location& at);

}  // namespace shard
