#include "mesh/topology.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/nearest.h"
#include "base/units.h"
#include "mesh/topology_table.h"
#include "mesh/torus.h"

namespace shard {
namespace {

constexpr std::int64_t most_listed_devices = std::int64_t{1} << 20;
constexpr std::string_view forms =
    "a TPU slice (v5e-256, v5p-2x2x4, 4xv5e-16), GPUs (8xh100, 4x8xh100) or cpu-8";

/// A name taken apart: `4x8xh100` is counts 4, 8, word h100; `4xv5e-16` is 4, v5e, size 16.
struct NameParts {
  std::vector<std::int64_t> counts;
  std::string word;
  std::string size;  ///< after the last dash
};

/// Takes a positive number of at most ten digits off the front; nothing when there is none.
std::optional<std::int64_t> take_count(std::string_view& text) {
  std::int64_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc() || count < 1 || digits > 10 || text.front() == '0') {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return count;
}

NameParts parts_of(std::string_view text) {
  NameParts parts;
  while (true) {
    std::string_view rest = text;
    const std::optional<std::int64_t> count = take_count(rest);
    if (!count || rest.size() < 2 || (rest.front() != 'x' && rest.front() != 'X')) break;
    parts.counts.push_back(*count);
    text = rest.substr(1);
  }
  const std::size_t dash =
      gpu_node_named(text) != nullptr ? std::string_view::npos : text.rfind('-');
  for (const char c : text.substr(0, dash)) {
    parts.word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (dash != std::string_view::npos) parts.size = text.substr(dash + 1);
  return parts;
}

[[noreturn]] void refuse(const std::string& name, const Location& at, const std::string& why,
                         const std::string& hint) {
  throw Error("unknown-devices", at, "devices '" + name + "' do not exist: " + why, hint);
}

void check_device_count(const Topology& topology, const Location& at) {
  const Grid& grid = topology.grid;
  const auto count =
      checked_product(std::array{topology.slices, grid[0], grid[1], grid[2], topology.cores});
  if (count && *count <= most_devices) return;
  throw Error("mesh-too-large", at,
              "devices '" + topology.name + "' are more than " + with_commas(most_devices));
}

/// `2x2x4` as edges, the last ones 1; nothing for another form.
std::optional<Grid> grid_from(std::string_view text) {
  Grid grid = {1, 1, 1};
  for (std::int64_t& edge : grid) {
    const std::optional<std::int64_t> count = take_count(text);
    if (!count) return std::nullopt;
    edge = *count;
    if (text.empty()) return grid;
    if (text.front() != 'x' && text.front() != 'X') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::int64_t chips_of(const Grid& grid) { return grid[0] * grid[1] * grid[2]; }

std::string grid_text(const TpuGeneration& generation, const Grid& grid) {
  return torus_text(Shape(grid.begin(), grid.begin() + generation.torus_rank));
}

/// The offered slices around a number of chips: the next smaller and the next larger one.
std::string nearest_slices(const TpuGeneration& generation, double chips, bool as_box) {
  const std::vector<Grid> grids = sized_grids(generation);
  const auto larger = std::find_if(grids.begin(), grids.end(), [&](const Grid& grid) {
    return static_cast<double>(chips_of(grid)) > chips;
  });
  const std::string stem = std::string(generation.name) + "-";
  const auto shown = [&](const Grid& grid) {
    return stem + (as_box ? grid_text(generation, grid)
                          : std::to_string(chips_of(grid) * generation.counted_per_chip));
  };
  std::string text = "nearest: ";
  if (larger != grids.begin()) text += shown(*(larger - 1));
  if (larger != grids.begin() && larger != grids.end()) text += " or ";
  if (larger != grids.end()) text += shown(*larger);
  return text;
}

Grid grid_of_size(const TpuGeneration& generation, std::int64_t size, const std::string& name,
                  const Location& at) {
  for (const Grid& grid : sized_grids(generation)) {
    if (chips_of(grid) * generation.counted_per_chip == size) return grid;
  }
  const double chips = static_cast<double>(size) / static_cast<double>(generation.counted_per_chip);
  refuse(name, at,
         "no slice of " + std::string(generation.name) + " has " + std::to_string(size) +
             (generation.counted_per_chip == 1 ? " chips" : " cores"),
         nearest_slices(generation, chips, false));
}

Grid grid_of_box(const TpuGeneration& generation, const Grid& grid, const std::string& name,
                 const Location& at) {
  if (has_grid(generation, grid)) return grid;
  double chips = 1;
  for (const std::int64_t edge : grid) chips *= static_cast<double>(edge);
  refuse(name, at,
         "no slice of " + std::string(generation.name) + " is a box of " +
             torus_text(Shape(grid.begin(), grid.end())) + " chips",
         nearest_slices(generation, chips, true));
}

Grid tpu_grid(const TpuGeneration& generation, const NameParts& parts, const std::string& name,
              const Location& at) {
  const std::optional<Grid> grid = grid_from(parts.size);
  if (!grid) {
    refuse(name, at,
           parts.size.empty() ? "a size has to follow the generation '" + parts.word + "'"
                              : "'" + parts.size + "' is neither a size nor a box of chips",
           "write " + std::string(generation.name) + "-16 or a box of chips like " +
               std::string(generation.name) + "-" +
               grid_text(generation, generation.torus_rank == 2 ? Grid{4, 4, 1} : Grid{2, 2, 4}));
  }
  const bool is_box = parts.size.find_first_of("xX") != std::string::npos;
  return is_box ? grid_of_box(generation, *grid, name, at)
                : grid_of_size(generation, (*grid)[0], name, at);
}

/// A flat slice of up to 8 chips is one host; any other slice is cut into hosts of 2x2.
Grid host_of(const TpuGeneration& generation, const Grid& grid) {
  const bool is_one_host =
      generation.torus_rank == 2 && generation.devices_per_chip == 1 && chips_of(grid) <= 8;
  return is_one_host ? grid : Grid{2, 2, 1};
}

Topology tpu_topology(const TpuGeneration& generation, const NameParts& parts,
                      const std::string& name, const Location& at) {
  if (parts.counts.size() > 1) {
    refuse(name, at, "one count of slices can stand before a TPU slice",
           "write " + std::to_string(parts.counts.front()) + "x" + parts.word + "-" + parts.size);
  }
  Topology topology;
  topology.chip = generation.name;
  topology.platform = "tpu";
  topology.kind = generation.kind;
  topology.grid = tpu_grid(generation, parts, name, at);
  topology.torus_rank = generation.torus_rank;
  topology.host = host_of(generation, topology.grid);
  topology.cores = generation.devices_per_chip;
  topology.slices = parts.counts.empty() ? 1 : parts.counts.front();
  topology.has_slice_index = true;
  const auto is_whole = [](std::int64_t edge) { return edge % 4 == 0; };
  const bool is_of_cubes = std::all_of(topology.grid.begin(), topology.grid.end(), is_whole);
  for (std::size_t k = 0; k < topology.grid.size(); ++k) {
    topology.wraps[k] =
        generation.torus_rank == 3 ? is_of_cubes : topology.grid[k] == generation.ring_edge;
  }
  return topology;
}

/// Domains and GPUs of one domain. Hosts below a whole domain are put together: 18x4xgb200 is one.
struct Domains {
  std::int64_t count;
  std::int64_t gpus;
};

Domains domains_of(const GpuNode& node, std::int64_t count, std::int64_t gpus,
                   const std::string& name, const Location& at) {
  const std::int64_t hosts = node.domain / node.host;
  if (hosts == 1 || gpus != node.host || count == 1) return {count, gpus};
  if (count <= hosts) return {1, count * gpus};
  if (count % hosts == 0) return {count / hosts, node.domain};
  refuse(name, at,
         std::to_string(count) + " hosts do not fill NVLink domains of " + std::to_string(hosts),
         "write whole domains, e.g. " + std::to_string(count / hosts) + "x" +
             std::to_string(node.domain) + "x" + std::string(node.name));
}

Topology gpu_topology(const GpuNode& node, const NameParts& parts, const std::string& name,
                      const Location& at) {
  const std::string word(node.name);
  if (parts.counts.empty() || parts.counts.size() > 2 || !parts.size.empty()) {
    refuse(name, at, "GPUs are written GPUS x CHIP or NODES x GPUS x CHIP",
           "write 8x" + word + " for one node or 4x8x" + word + " for four");
  }
  const std::int64_t gpus = parts.counts.back();
  if (gpus > node.domain) {
    refuse(name, at,
           "a node of " + word + " has at most " + std::to_string(node.domain) + " GPUs, not " +
               std::to_string(gpus),
           "write NODESx" + std::to_string(node.domain) + "x" + word);
  }
  const std::int64_t count = parts.counts.size() == 2 ? parts.counts.front() : 1;
  const Domains domains = domains_of(node, count, gpus, name, at);
  Topology topology;
  topology.chip = word;
  topology.platform = "gpu";
  topology.kind = node.kind;
  topology.grid = {domains.gpus, 1, 1};
  topology.host = {node.host, 1, 1};
  topology.slices = domains.count;
  topology.has_slice_index = true;
  return topology;
}

Topology cpu_topology(const NameParts& parts, const std::string& name, const Location& at) {
  std::string_view size = parts.size;
  const std::optional<std::int64_t> count = take_count(size);
  if (!count || !size.empty() || parts.counts.size() > 1) {
    refuse(name, at, "CPU devices are written cpu-COUNT",
           "write cpu-8, or 2xcpu-4 for 2 processes");
  }
  Topology topology;
  topology.chip = topology.platform = topology.kind = "cpu";
  topology.grid = {*count, 1, 1};
  topology.host = topology.grid;
  topology.slices = parts.counts.empty() ? 1 : parts.counts.front();
  return topology;
}

[[noreturn]] void refuse_word(const NameParts& parts, const std::string& name, const Location& at) {
  std::vector<std::string> words = {"cpu"};
  for (const TpuGeneration& generation : tpu_generations()) {
    words.emplace_back(generation.name);
    for (const std::string_view alias : generation.aliases) {
      if (!alias.empty()) words.emplace_back(alias);
    }
  }
  for (const GpuNode& node : gpu_nodes()) words.emplace_back(node.name);
  const std::string near = did_you_mean(parts.word, words);
  refuse(name, at, "'" + parts.word + "' is no chip we know",
         (near.empty() ? "" : near + " ") + "expected " + std::string(forms));
}

Topology topology_of(const NameParts& parts, const std::string& name, const Location& at) {
  if (parts.word == "cpu") return cpu_topology(parts, name, at);
  if (const TpuGeneration* generation = tpu_generation_named(parts.word)) {
    return tpu_topology(*generation, parts, name, at);
  }
  if (const GpuNode* node = gpu_node_named(parts.word)) {
    return gpu_topology(*node, parts, name, at);
  }
  refuse_word(parts, name, at);
}

std::int64_t process_of(const Topology& topology, const Grid& chip, std::int64_t slice) {
  std::int64_t process = slice;
  for (std::size_t k = chip.size(); k-- > 0;) {
    const std::int64_t hosts = (topology.grid[k] + topology.host[k] - 1) / topology.host[k];
    process = process * hosts + chip[k] / topology.host[k];
  }
  return process;
}

void append_chip(const Topology& topology, const Grid& chip, std::int64_t slice,
                 std::vector<Device>& devices) {
  for (std::int64_t core = 0; core < topology.cores; ++core) {
    Device device;
    device.id = static_cast<std::int64_t>(devices.size());
    device.platform = topology.platform;
    device.kind = topology.kind;
    if (topology.platform == "tpu") device.coords = chip;
    device.core = core;
    device.process = process_of(topology, chip, slice);
    if (topology.has_slice_index) device.slice = slice;
    devices.push_back(std::move(device));
  }
}

}  // namespace

Topology topology_named(const std::string& name, const Location& at) {
  Topology topology = topology_of(parts_of(name), name, at);
  topology.name = name;
  check_device_count(topology, at);
  return topology;
}

std::vector<Device> devices_of(const Topology& topology, const Location& at) {
  if (topology.device_count() > most_listed_devices) {
    throw Error("mesh-too-large", at,
                "devices '" + topology.name + "' are " + with_commas(topology.device_count()) +
                    ", more than the " + with_commas(most_listed_devices) +
                    " whose places can be listed");
  }
  std::vector<Device> devices;
  devices.reserve(static_cast<std::size_t>(topology.device_count()));
  const Grid& grid = topology.grid;
  for (std::int64_t slice = 0; slice < topology.slices; ++slice) {
    for (std::int64_t z = 0; z < grid[2]; ++z) {
      for (std::int64_t y = 0; y < grid[1]; ++y) {
        for (std::int64_t x = 0; x < grid[0]; ++x) {
          append_chip(topology, {x, y, z}, slice, devices);
        }
      }
    }
  }
  std::stable_sort(devices.begin(), devices.end(), [](const Device& one, const Device& other) {
    return one.process < other.process;
  });
  return devices;
}

std::vector<Device> devices_of_topology(const std::string& name, const Location& at) {
  return devices_of(topology_named(name, at), at);
}

}  // namespace shard
