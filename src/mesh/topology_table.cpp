#include "mesh/topology_table.h"

#include <algorithm>
#include <iterator>

#include "base/nearest.h"

namespace shard {
namespace {

constexpr std::array<Grid, 8> flat_grids = {
    {{1, 1, 1}, {2, 2, 1}, {2, 4, 1}, {4, 4, 1}, {4, 8, 1}, {8, 8, 1}, {8, 16, 1}, {16, 16, 1}}};
constexpr std::array<Grid, 5> v2_grids = {
    {{2, 2, 1}, {4, 4, 1}, {8, 8, 1}, {8, 16, 1}, {16, 16, 1}}};
constexpr std::array<Grid, 8> v3_grids = {{{2, 2, 1},
                                           {4, 4, 1},
                                           {4, 8, 1},
                                           {8, 8, 1},
                                           {8, 16, 1},
                                           {16, 16, 1},
                                           {16, 32, 1},
                                           {32, 32, 1}}};
constexpr std::array<Grid, 4> below_a_cube = {{{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}}};
constexpr std::array<Grid, 5> below_a_cube_or_one_chip = {
    {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}}};

// v5p chips report the kind `TPU v5`, checked against device orders of the real compiler.
constexpr std::array<TpuGeneration, 7> generations = {{
    {"v2", {"tpu_v2"}, "TPU v2", 2, 2, 2, 16, 0, 0, {}, v2_grids},
    {"v3", {"tpu_v3"}, "TPU v3", 2, 2, 2, 32, 0, 0, {}, v3_grids},
    {"v4", {"tpu_v4", "v4p"}, "TPU v4", 3, 2, 1, 0, 64, 64, {}, below_a_cube},
    {"v5e", {"tpu_v5e", "v5litepod"}, "TPU v5 lite", 2, 1, 1, 16, 0, 0, {}, flat_grids},
    {"v5p", {"tpu_v5p"}, "TPU v5", 3, 2, 1, 0, 140, 96, {108, 140}, below_a_cube},
    {"v6e", {"tpu_v6e", "trillium"}, "TPU v6 lite", 2, 1, 1, 16, 0, 0, {}, flat_grids},
    {"v7x",
     {"tpu_v7x", "tpu7x", "ironwood"},
     "TPU7x",
     3,
     2,
     2,
     0,
     144,
     96,
     {108, 128, 140, 144},
     below_a_cube_or_one_chip},
}};

constexpr std::array<GpuNode, 6> nodes = {{
    {"a100", "NVIDIA A100", 16, 16},
    {"a100-40g", "NVIDIA A100", 16, 16},
    {"h100", "NVIDIA H100", 8, 8},
    {"h200", "NVIDIA H200", 8, 8},
    {"b200", "NVIDIA B200", 8, 8},
    {"gb200", "NVIDIA GB200", 4, 72},
}};

constexpr std::int64_t cube_edge = 4;
constexpr std::int64_t chips_per_cube = cube_edge * cube_edge * cube_edge;
// No offered slice is a chain of more cubes than this.
constexpr std::int64_t longest_chain = 61;

/// The box of `cubes` cubes nearest to a cube (least surface), edges growing.
Grid box_of_cubes(std::int64_t cubes) {
  Grid best = {1, 1, cubes};
  const auto surface = [](const Grid& box) {
    return box[0] * box[1] + box[1] * box[2] + box[0] * box[2];
  };
  for (std::int64_t x = 1; x * x * x <= cubes; ++x) {
    if (cubes % x != 0) continue;
    for (std::int64_t y = x; x * y * y <= cubes; ++y) {
      const Grid box = {x, y, cubes / x / y};
      if ((cubes / x) % y == 0 && surface(box) < surface(best)) best = box;
    }
  }
  return best;
}

Grid sorted(Grid grid) {
  std::sort(grid.begin(), grid.end());
  return grid;
}

}  // namespace

std::span<const TpuGeneration> tpu_generations() { return generations; }

const TpuGeneration* tpu_generation_named(std::string_view word) {
  if (word.empty()) return nullptr;
  for (const TpuGeneration& generation : generations) {
    if (same_word(generation.name, word)) return &generation;
    for (const std::string_view alias : generation.aliases) {
      if (same_word(alias, word)) return &generation;
    }
  }
  return nullptr;
}

std::vector<Grid> sized_grids(const TpuGeneration& generation) {
  std::vector<Grid> grids(generation.small.begin(), generation.small.end());
  const auto add = [&](std::int64_t cubes) {
    Grid box = box_of_cubes(cubes);
    if (box[2] > longest_chain) return;
    for (std::int64_t& edge : box) edge *= cube_edge;
    grids.push_back(box);
  };
  for (std::int64_t cubes = 1; cubes <= generation.most_listed_cubes; ++cubes) add(cubes);
  for (const std::int64_t cubes : generation.more_cubes) {
    if (cubes > 0) add(cubes);
  }
  return grids;
}

bool has_grid(const TpuGeneration& generation, const Grid& grid) {
  const bool is_small = std::any_of(generation.small.begin(), generation.small.end(),
                                    [&](const Grid& one) { return sorted(one) == sorted(grid); });
  if (is_small) return generation.torus_rank == 3 || grid[2] == 1;
  const std::int64_t most_chips = generation.most_cubes * chips_per_cube;
  std::int64_t chips = 1;
  for (const std::int64_t edge : grid) {
    if (edge % cube_edge != 0 || edge > most_chips) return false;
    chips *= edge;
  }
  return chips <= most_chips;
}

std::span<const GpuNode> gpu_nodes() { return nodes; }

const GpuNode* gpu_node_named(std::string_view word) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const GpuNode& node) { return same_word(node.name, word); });
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace shard
