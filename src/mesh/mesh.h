#pragma once
// Devices and their arrangement. A mesh is an ordered list of named axes; a device's coordinates
// are its row-major position. Nothing here depends on how many devices there are until groups are
// asked for.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/ids.h"
#include "base/name.h"
#include "config/rules_config.h"
#include "mesh/axis_type.h"
#include "mesh/device_places.h"

namespace shard {

struct MeshAxisInfo {
  MeshAxis name;
  std::int64_t size = 1;
  Location at{};
  AxisType type = AxisType::automatic;
};

/// An axis of the mesh or a part of it. Axis `x` of size n seen as [pre_size, size,
/// n/(pre_size*size)] is the middle part, written `x:(pre_size)size`; the full axis has pre_size 1
/// and size n.
struct AxisRef {
  int axis = 0;  ///< position in Mesh::axes()
  std::int64_t pre_size = 1;
  std::int64_t size = 1;

  friend auto operator<=>(const AxisRef&, const AxisRef&) = default;
};

class Mesh {
 public:
  Mesh() = default;
  /// `device_ids` in row-major order of the axes; empty means 0, 1, 2, ...
  explicit Mesh(std::vector<MeshAxisInfo> axes, std::vector<std::int64_t> device_ids = {});
  /// `places` gives the ids when they are first asked for, nullptr: 0, 1, 2, ...; `hardware` may be
  /// nullptr.
  Mesh(std::vector<MeshAxisInfo> axes, std::shared_ptr<const DevicePlaces> places,
       std::shared_ptr<const MeshHardware> hardware);

  const std::vector<MeshAxisInfo>& axes() const { return axes_; }
  std::int64_t device_count() const { return device_count_; }
  std::optional<int> find(const MeshAxis& name) const;
  std::int64_t size(int axis) const { return axes_[static_cast<std::size_t>(axis)].size; }
  AxisType type(int axis) const { return axes_[static_cast<std::size_t>(axis)].type; }
  /// Some axis is of this type.
  bool has(AxisType type) const;
  /// There are axes, and all are of type Explicit.
  bool is_explicit() const;
  AxisRef full(int axis) const { return {axis, 1, size(axis)}; }
  bool is_full(const AxisRef& ref) const { return ref.pre_size == 1 && ref.size == size(ref.axis); }

  /// Id of the device at row-major position `position`.
  std::int64_t device_id(std::int64_t position) const;
  /// Ids are positions: nobody gave the mesh an order of its own.
  bool is_in_id_order() const { return places_ == nullptr; }
  /// The hardware the rules name, or nullptr.
  const MeshHardware* hardware() const { return hardware_.get(); }
  /// Coordinate of that device along an axis or sub-axis.
  std::int64_t coordinate(std::int64_t position, const AxisRef& ref) const;
  /// Row-major number of the device's coordinates on `refs`, major first; 0 for none.
  std::int64_t linear_coordinate(std::int64_t position, const std::vector<AxisRef>& refs) const;

  /// Names, sizes, types and devices are the same.
  friend bool operator==(const Mesh& a, const Mesh& b);

 private:
  std::vector<MeshAxisInfo> axes_;
  std::shared_ptr<const DevicePlaces> places_;
  std::shared_ptr<const MeshHardware> hardware_;
  std::vector<std::int64_t> strides_;
  std::int64_t device_count_ = 1;
};

/// The names of its axes, in order.
std::vector<std::string> axis_names(const Mesh& mesh);

/// `data` or `x:(1)2`.
std::string to_string(const Mesh& mesh, const AxisRef& ref);
/// `data 2 x model 4`.
std::string to_string(const Mesh& mesh);

/// Product of the sizes: the number of parts a dim split over `refs` has; 1 for none.
std::int64_t product(const std::vector<AxisRef>& refs);

/// Replica groups of a collective over `refs`: all positions with equal coordinates outside `refs`;
/// within a group ordered by the coordinates on `refs`, major first as listed. Groups in order of
/// their first member.
std::vector<std::vector<std::int64_t>> replica_groups(const Mesh& mesh,
                                                      const std::vector<AxisRef>& refs);

/// Builds and checks the mesh of a rules file, on the hardware it names: sizes of -1 are filled in,
/// and the devices stand as JAX arranges them (see place_mesh.h). Throws `Error` with all of:
/// `duplicate-mesh-axis`, `bad-mesh-axis` (no name), `bad-mesh-size` (below 1, two -1 in a group, a
/// dcn size that does not divide), `mesh-too-large` (product over 2^31), `unknown-mesh-axis` (in
/// `dcn`); or with the first of: `needs-device-count` (a -1 without hardware), `mesh-size` (the
/// product is not the number of devices or slices), `unknown-devices`, `bad-device-order`,
/// `topology-unassignable`, `multi-slice`, `no-contiguous-submeshes`.
Mesh make_mesh(const RulesConfig& rules);

}  // namespace shard
