#pragma once
// What the placement of a mesh on hardware looks at: one device, and a finished arrangement of
// devices.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor_type.h"

namespace shard {

/// Edges of a box of chips, x y z; unused edges are 1.
using Grid = std::array<std::int64_t, 3>;

/// One device as JAX describes it. `platform` and `kind` are JAX's words (`tpu`, `TPU v5 lite`).
struct Device {
  std::int64_t id = 0;
  std::string platform;
  std::string kind;
  std::optional<Grid> coords;  ///< of the chip in its slice; TPUs only
  std::int64_t core = 0;       ///< of the chip, when a chip is several devices
  std::int64_t process = 0;
  std::optional<std::int64_t> slice;  ///< the domain of fast links; nothing on CPUs

  friend bool operator==(const Device&, const Device&) = default;
};

/// Devices arranged as a mesh: ids in row-major order of `shape`, as class Mesh takes them.
struct DeviceMesh {
  Shape shape;
  std::vector<std::int64_t> ids;

  friend bool operator==(const DeviceMesh&, const DeviceMesh&) = default;
};

/// What messages about a mesh point at and call its axes.
struct MeshOrigin {
  Location at;
  std::vector<std::string> axis_names;  ///< empty: axes are called by their number
};

/// Number of fast-link domains among the devices; 1 when they belong to none.
std::int64_t slice_count(const std::vector<Device>& devices);

}  // namespace shard
