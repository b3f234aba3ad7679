#include "mesh/mesh.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shard {

namespace {

std::shared_ptr<const DevicePlaces> places_with(std::vector<std::int64_t> ids) {
  if (ids.empty()) return nullptr;
  return std::make_shared<DevicePlaces>([ids = std::move(ids)] { return ids; });
}

}  // namespace

Mesh::Mesh(std::vector<MeshAxisInfo> axes, std::shared_ptr<const DevicePlaces> places,
           std::shared_ptr<const MeshHardware> hardware)
    : axes_(std::move(axes)),
      places_(std::move(places)),
      hardware_(std::move(hardware)),
      strides_(axes_.size()) {
  for (std::size_t i = axes_.size(); i-- > 0;) {
    strides_[i] = device_count_;
    device_count_ *= axes_[i].size;
  }
}

Mesh::Mesh(std::vector<MeshAxisInfo> axes, std::vector<std::int64_t> device_ids)
    : Mesh(std::move(axes), places_with(std::move(device_ids)), nullptr) {
  SHARD_CHECK(!places_ || static_cast<std::int64_t>(places_->ids().size()) == device_count_,
              "a mesh has one device id per position");
}

std::optional<int> Mesh::find(const MeshAxis& name) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

bool Mesh::has(AxisType type) const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [&](const MeshAxisInfo& axis) { return axis.type == type; });
}

bool Mesh::is_explicit() const {
  return has(AxisType::explicit_types) && !has(AxisType::automatic) && !has(AxisType::manual);
}

std::int64_t Mesh::device_id(std::int64_t position) const {
  return places_ ? places_->ids()[static_cast<std::size_t>(position)] : position;
}

std::int64_t Mesh::coordinate(std::int64_t position, const AxisRef& ref) const {
  const std::int64_t whole =
      (position / strides_[static_cast<std::size_t>(ref.axis)]) % size(ref.axis);
  return (whole / (size(ref.axis) / (ref.pre_size * ref.size))) % ref.size;
}

std::int64_t Mesh::linear_coordinate(std::int64_t position,
                                     const std::vector<AxisRef>& refs) const {
  std::int64_t number = 0;
  for (const AxisRef& ref : refs) number = number * ref.size + coordinate(position, ref);
  return number;
}

bool operator==(const Mesh& a, const Mesh& b) {
  const auto is_same = [](const MeshAxisInfo& one, const MeshAxisInfo& other) {
    return one.name == other.name && one.size == other.size && one.type == other.type;
  };
  if (!std::equal(a.axes_.begin(), a.axes_.end(), b.axes_.begin(), b.axes_.end(), is_same)) {
    return false;
  }
  if (a.places_ == b.places_) return true;
  for (std::int64_t position = 0; position < a.device_count_; ++position) {
    if (a.device_id(position) != b.device_id(position)) return false;
  }
  return true;
}

std::string to_string(const Mesh& mesh, const AxisRef& ref) {
  std::string text = mesh.axes()[static_cast<std::size_t>(ref.axis)].name.text();
  if (mesh.is_full(ref)) return text;
  return text + ":(" + std::to_string(ref.pre_size) + ")" + std::to_string(ref.size);
}

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxisInfo& axis : mesh.axes()) names.push_back(axis.name.text());
  return names;
}

std::string to_string(const Mesh& mesh) {
  std::string text;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    text += (text.empty() ? "" : " x ") + axis.name.text() + " " + std::to_string(axis.size);
  }
  return text;
}

std::int64_t product(const std::vector<AxisRef>& refs) {
  std::int64_t count = 1;
  for (const AxisRef& ref : refs) count *= ref.size;
  return count;
}

}  // namespace shard
