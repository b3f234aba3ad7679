#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/nearest.h"
#include "base/units.h"
#include "mesh/mesh.h"
#include "mesh/mesh_sizes.h"
#include "mesh/place_mesh.h"
#include "mesh/topology.h"

namespace shard {
namespace {

constexpr std::int64_t to_fill = -1;

void check_names(const std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (const MeshAxisConfig& axis : axes) {
    if (axis.name.empty()) {
      diagnostics.error("bad-mesh-axis", axis.at, "a mesh axis has no name",
                        "write a word, e.g. data: 2");
    } else if (!seen.insert(axis.name.text()).second) {
      diagnostics.error("duplicate-mesh-axis", axis.at,
                        "mesh axis '" + axis.name.text() + "' is there twice",
                        "give each axis of the mesh a name of its own");
    }
  }
}

void check_sizes(const std::vector<MeshAxisConfig>& axes, Diagnostics& diagnostics) {
  std::int64_t product = 1;
  bool is_small = true;
  for (const MeshAxisConfig& axis : axes) {
    if (axis.size == to_fill) continue;
    if (axis.size < 1) {
      diagnostics.error("bad-mesh-size", axis.at,
                        "mesh axis '" + axis.name.text() + "' has size " +
                            std::to_string(axis.size) + ", expected 1 or more");
      continue;
    }
    if (!is_small) continue;
    is_small = !__builtin_mul_overflow(product, axis.size, &product) && product <= most_devices;
    if (!is_small) {
      diagnostics.error("mesh-too-large", axis.at,
                        "the mesh has more than " + with_commas(most_devices) +
                            " devices: the product passes it at axis '" + axis.name.text() + "'");
    }
  }
}

void check_dcn_names(const RulesConfig& rules, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const MeshAxisConfig& axis : rules.mesh) names.push_back(axis.name.text());
  for (const MeshAxisConfig& axis : rules.dcn) {
    if (std::find(names.begin(), names.end(), axis.name.text()) != names.end()) continue;
    diagnostics.error("unknown-mesh-axis", axis.at,
                      "dcn axis '" + axis.name.text() + "' is not an axis of the mesh",
                      did_you_mean(axis.name.text(), names, "the mesh has"));
  }
}

/// Works out the sizes that are left open, with the hardware in hand.
class MeshMaker {
 public:
  explicit MeshMaker(const RulesConfig& rules) : rules_(rules) {
    for (const MeshAxisConfig& axis : rules.mesh) {
      sizes_.push_back(axis.size);
      places_.push_back(axis.at);
      names_.push_back(axis.name.text());
    }
    if (!rules.devices.empty()) topology_ = topology_named(rules.devices, rules.devices_at);
  }

  Mesh make() {
    fill_sizes();
    check_device_count();
    fill_dcn();
    const MeshHardware hardware = hardware_of();
    check_listed_ids(hardware);
    auto places = place_mesh(rules_, hardware, origin_at(place_of_open(sizes_written())));
    const bool is_named = topology_.has_value() || !rules_.dcn.empty();
    return Mesh(axes(), std::move(places),
                is_named ? std::make_shared<const MeshHardware>(hardware) : nullptr);
  }

 private:
  Shape sizes_written() const {
    Shape sizes;
    for (const MeshAxisConfig& axis : rules_.mesh) sizes.push_back(axis.size);
    return sizes;
  }

  /// The axis that is filled in, else the first that has several devices.
  Location place_of_open(const Shape& sizes) const {
    const auto open = std::find(sizes.begin(), sizes.end(), to_fill);
    const auto large = std::find_if(sizes.begin(), sizes.end(), [](auto size) { return size > 1; });
    const auto telling = open != sizes.end() ? open : large;
    if (telling == sizes.end()) return places_.empty() ? rules_.devices_at : places_.front();
    return places_[static_cast<std::size_t>(telling - sizes.begin())];
  }

  MeshOrigin origin_at(const Location& at) const { return {at, names_}; }

  [[noreturn]] void refuse_open(const std::string& group, const std::string& name,
                                const Location& at, const std::string& counted) const {
    throw Error("needs-device-count", at,
                "the " + group + "size of mesh axis '" + name +
                    "' is to be filled in, and the number of " + counted + " is not given",
                "give the hardware (--devices v5e-16) or a number instead of -1");
  }

  void fill_sizes() {
    const auto open = std::find(sizes_.begin(), sizes_.end(), to_fill);
    if (open == sizes_.end()) return;
    const auto at = static_cast<std::size_t>(open - sizes_.begin());
    const auto again = std::find(open + 1, sizes_.end(), to_fill);
    if (again != sizes_.end()) {
      filled_sizes(sizes_, 1, {},
                   origin_at(places_[static_cast<std::size_t>(again - sizes_.begin())]));
    }
    if (!topology_) refuse_open("", names_[at], places_[at], "devices");
    sizes_ = filled_sizes(sizes_, topology_->device_count(), {}, origin_at(places_[at]));
  }

  void check_device_count() const {
    if (!topology_) return;
    const std::optional<std::int64_t> count = size_product(sizes_);
    SHARD_CHECK(count, "sizes whose product is too large are refused before");
    if (topology_->device_count() == *count) return;
    const std::string needed = "cpu-" + std::to_string(*count);
    throw Error("mesh-size", rules_.devices_at,
                "the mesh " + to_string(Mesh(axes())) + " has " + with_commas(*count) +
                    " devices, but '" + rules_.devices + "' are " +
                    with_commas(topology_->device_count()),
                topology_->platform == "cpu"
                    ? "write devices: " + needed + ", or change a size of the mesh"
                    : "change a size of the mesh, or write -1 for one to have it filled in");
  }

  void fill_dcn() {
    dcn_.assign(sizes_.size(), 1);
    Location at = rules_.dcn.empty() ? Location{} : rules_.dcn.front().at;
    for (const MeshAxisConfig& axis : rules_.dcn) {
      const auto found = std::find(names_.begin(), names_.end(), axis.name.text());
      dcn_[static_cast<std::size_t>(found - names_.begin())] = axis.size;
      if (axis.size != to_fill) continue;
      at = axis.at;
      if (!topology_) refuse_open("dcn ", axis.name.text(), axis.at, "slices");
    }
    if (topology_ && !rules_.dcn.empty()) {
      dcn_ = filled_sizes(dcn_, topology_->slices, {"dcn", "slices"}, origin_at(at));
    }
    for (const MeshAxisConfig& axis : rules_.dcn) check_crossing(axis);
  }

  void check_crossing(const MeshAxisConfig& axis) const {
    const auto found = std::find(names_.begin(), names_.end(), axis.name.text());
    const auto at = static_cast<std::size_t>(found - names_.begin());
    if (sizes_[at] % dcn_[at] == 0) return;
    throw Error("bad-mesh-size", axis.at,
                "mesh axis '" + axis.name.text() + "' has size " + std::to_string(sizes_[at]) +
                    ", and " + std::to_string(dcn_[at]) +
                    " of it across slices leaves no whole number inside a slice",
                "the dcn size has to divide " + std::to_string(sizes_[at]));
  }

  /// Without a name: CPUs, in as many groups as the sizes across slices say.
  MeshHardware hardware_of() const {
    MeshHardware hardware;
    hardware.dcn = dcn_;
    for (std::size_t k = 0; k < sizes_.size(); ++k) hardware.ici.push_back(sizes_[k] / dcn_[k]);
    if (topology_) {
      hardware.topology = *topology_;
      return hardware;
    }
    Topology& cpus = hardware.topology;
    cpus.chip = cpus.platform = cpus.kind = "cpu";
    cpus.slices = *size_product(dcn_);
    cpus.grid = cpus.host = {*size_product(hardware.ici), 1, 1};
    return hardware;
  }

  void check_listed_ids(const MeshHardware& hardware) const {
    if (rules_.device_order != DeviceOrder::listed) return;
    const std::int64_t count = hardware.topology.device_count();
    const auto refuse = [&](const std::string& message) {
      throw Error("bad-device-order", rules_.device_order_at, message,
                  "list each of the devices 0 to " + std::to_string(count - 1) + " once");
    };
    if (static_cast<std::int64_t>(rules_.device_ids.size()) != count) {
      refuse("device_order lists " +
             with_commas(static_cast<std::int64_t>(rules_.device_ids.size())) +
             " devices, the mesh has " + with_commas(count));
    }
    std::set<std::int64_t> seen;
    for (const std::int64_t id : rules_.device_ids) {
      if (id >= count) refuse("there is no device " + std::to_string(id));
      if (!seen.insert(id).second) refuse("device " + std::to_string(id) + " is listed twice");
    }
  }

  std::vector<MeshAxisInfo> axes() const {
    std::vector<MeshAxisInfo> axes;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      axes.push_back({rules_.mesh[k].name, sizes_[k], places_[k], type_of(rules_.mesh[k].name)});
    }
    return axes;
  }

  AxisType type_of(const MeshAxis& axis) const {
    AxisType type = AxisType::automatic;
    for (const AxisTypeConfig& one : rules_.axis_types) {
      if (!one.axis || *one.axis == axis) type = axis_type_named(one.word).value_or(type);
    }
    return type;
  }

  const RulesConfig& rules_;
  std::optional<Topology> topology_;
  Shape sizes_;
  Shape dcn_;
  std::vector<Location> places_;
  std::vector<std::string> names_;
};

}  // namespace

Mesh make_mesh(const RulesConfig& rules) {
  Diagnostics diagnostics;
  check_names(rules.mesh, diagnostics);
  check_sizes(rules.mesh, diagnostics);
  check_dcn_names(rules, diagnostics);
  diagnostics.throw_if_errors();
  return MeshMaker(rules).make();
}

}  // namespace shard
