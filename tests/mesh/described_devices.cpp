#include "described_devices.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shard::test {
namespace {

using nlohmann::json;

Grid box_of(const json& description) {
  if (description.at("platform") == "tpu") return description.at("topology").get<Grid>();
  return {description.at("count").get<std::int64_t>() / description.value("slices", 1), 1, 1};
}

/// Every device in the order of the ids.
std::vector<Device> counted(const json& description) {
  const Grid box = box_of(description);
  const bool is_tpu = description.at("platform") == "tpu";
  const Grid origin = description.value("origin", Grid{0, 0, 0});
  const std::int64_t cores = description.value("cores", 1);
  const std::int64_t per_slice = box[0] * box[1] * box[2] * cores;
  const std::int64_t count = per_slice * description.value("slices", 1);
  const std::int64_t processes = description.value("processes", description.value("slices", 1));
  std::vector<Device> devices;
  for (std::int64_t id = 0; id < count; ++id) {
    const std::int64_t chip = id % per_slice / cores;
    const Grid at = {chip % box[0], chip / box[0] % box[1], chip / box[0] / box[1]};
    Device device{id, description.at("platform"), description.at("kind"), {}, id % cores, 0, {}};
    if (is_tpu) device.coords = Grid{at[0] + origin[0], at[1] + origin[1], at[2] + origin[2]};
    if (description.value("slice_attribute", is_tpu)) device.slice = id / per_slice;
    device.process = id * processes / count;
    devices.push_back(std::move(device));
  }
  return devices;
}

/// Gives each process a box of chips and lists the devices by process.
void group_by_host(std::vector<Device>& devices, const Grid& box, const Grid& host) {
  for (Device& device : devices) {
    std::int64_t process = *device.slice;
    for (std::size_t k = 3; k-- > 0;) {
      process = process * ((box[k] + host[k] - 1) / host[k]) + (*device.coords)[k] / host[k];
    }
    device.process = process;
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const Device& a, const Device& b) { return a.process < b.process; });
}

void drop(std::vector<Device>& devices, const std::vector<std::size_t>& positions) {
  std::vector<Device> kept;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (std::find(positions.begin(), positions.end(), k) == positions.end()) {
      kept.push_back(devices[k]);
    }
  }
  devices = std::move(kept);
}

}  // namespace

std::vector<Device> described_devices(const json& description) {
  std::vector<Device> devices = counted(description);
  if (description.contains("host")) {
    group_by_host(devices, box_of(description), description.at("host").get<Grid>());
  }
  drop(devices, description.value("drop", std::vector<std::size_t>{}));
  const auto coords = description.value("coords", std::vector<Grid>{});
  for (std::size_t k = 0; k < coords.size(); ++k) devices.at(k).coords = coords[k];
  if (!description.contains("order")) return devices;
  std::vector<Device> ordered;
  for (const std::size_t k : description.at("order").get<std::vector<std::size_t>>()) {
    ordered.push_back(devices.at(k));
  }
  return ordered;
}

std::vector<Device> cpu_devices(std::int64_t count) {
  std::vector<Device> devices;
  for (std::int64_t id = 0; id < count; ++id) devices.push_back({id, "cpu", "cpu", {}, 0, 0, {}});
  return devices;
}

}  // namespace shard::test
