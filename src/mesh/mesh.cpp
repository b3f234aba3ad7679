#include "mesh/mesh.h"

#include <utility>

#include "base/check.h"

namespace shard {

Mesh::Mesh(std::vector<MeshAxisInfo> axes, std::vector<std::int64_t> device_ids)
    : axes_(std::move(axes)), device_ids_(std::move(device_ids)), strides_(axes_.size()) {
  for (std::size_t i = axes_.size(); i-- > 0;) {
    strides_[i] = device_count_;
    device_count_ *= axes_[i].size;
  }
  SHARD_CHECK(device_ids_.empty() || static_cast<std::int64_t>(device_ids_.size()) == device_count_,
              "a mesh has one device id per position");
}

std::optional<int> Mesh::find(const MeshAxis& name) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::int64_t Mesh::device_id(std::int64_t position) const {
  return device_ids_.empty() ? position : device_ids_[static_cast<std::size_t>(position)];
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
  if (a.axes_.size() != b.axes_.size() || a.device_ids_ != b.device_ids_) return false;
  for (std::size_t i = 0; i < a.axes_.size(); ++i) {
    if (a.axes_[i].name != b.axes_[i].name || a.axes_[i].size != b.axes_[i].size) return false;
  }
  return true;
}

std::string to_string(const Mesh& mesh, const AxisRef& ref) {
  std::string text = mesh.axes()[static_cast<std::size_t>(ref.axis)].name.text();
  if (mesh.is_full(ref)) return text;
  return text + ":(" + std::to_string(ref.pre_size) + ")" + std::to_string(ref.size);
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
