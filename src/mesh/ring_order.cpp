#include "mesh/ring_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>

#include "mesh/physical_mesh.h"

namespace shard {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::array<std::size_t, 4> ring_of_4 = {0, 1, 3, 2};
constexpr std::array<std::size_t, 8> ring_of_8 = {0, 1, 2, 3, 6, 7, 4, 5};
constexpr std::array<std::size_t, 8> rows_of_8 = {0, 1, 2, 3, 7, 6, 5, 4};
constexpr std::array<std::size_t, 8> cube_of_8 = {0, 4, 2, 6, 1, 5, 3, 7};
constexpr std::array<std::size_t, 8> cube_ring_of_8 = {0, 1, 3, 2, 6, 7, 5, 4};
constexpr std::array<std::size_t, 16> ring_of_16 = {0,  1,  2,  3,  7,  6,  5, 9,
                                                    10, 11, 15, 14, 13, 12, 8, 4};

/// `list`, group by group of the permutation's length.
Order permuted(const Order& list, std::span<const std::size_t> permutation) {
  Order result;
  result.reserve(list.size());
  for (std::size_t start = 0; start < list.size(); start += permutation.size()) {
    for (const std::size_t k : permutation) result.push_back(list[start + k]);
  }
  return result;
}

Order as_given(const std::vector<Device>& devices) {
  Order list(devices.size());
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

const Grid& coords_of(const Device& device, const Location& at) {
  if (device.coords) return *device.coords;
  throw Error("no-coordinates", at,
              "device " + std::to_string(device.id) + " of kind '" + device.kind +
                  "' has no chip coordinates, so its place in the ring is not known");
}

/// The list by coordinates, x fastest, and one more than the largest coordinates.
struct Sorted {
  Order list;
  Grid bounds;
};

Sorted by_coordinates(const std::vector<Device>& devices, const Location& at) {
  Sorted sorted{as_given(devices), {}};
  Grid largest = coords_of(devices.front(), at);
  for (const Device& device : devices) largest = std::max(largest, coords_of(device, at));
  for (std::size_t k = 0; k < largest.size(); ++k) sorted.bounds[k] = largest[k] + 1;
  std::stable_sort(sorted.list.begin(), sorted.list.end(), [&](std::size_t a, std::size_t b) {
    const Grid& one = *devices[a].coords;
    const Grid& other = *devices[b].coords;
    return std::tie(one[2], one[1], one[0]) < std::tie(other[2], other[1], other[0]);
  });
  return sorted;
}

using Handler = std::optional<Order> (*)(const Shape&, const std::vector<Device>&, const Location&);

/// v2, v3: rings of the 8 cores of 4 chips. Always an answer.
std::optional<Order> pairs_of_cores(const Shape& sizes, const std::vector<Device>& devices,
                                    const Location&) {
  const bool is_ring = devices.size() == 8 || (!sizes.empty() && sizes.back() == 8);
  const Order list = as_given(devices);
  return is_ring ? permuted(list, ring_of_8) : list;
}

/// v4 lite, 8i: one ring of 4.
std::optional<Order> four_devices(const Shape&, const std::vector<Device>& devices,
                                  const Location&) {
  if (devices.size() != 4) return std::nullopt;
  return permuted(as_given(devices), ring_of_4);
}

/// v5 lite, v6 lite: rings on a host, and one around 4x4 chips.
std::optional<Order> flat_slices(const Shape& sizes, const std::vector<Device>& devices,
                                 const Location& at) {
  const auto [list, bounds] = by_coordinates(devices, at);
  if (bounds == Grid{2, 2, 1} && list.size() == 4) return permuted(list, ring_of_4);
  if (list.size() == 8) return permuted(list, bounds == Grid{2, 2, 2} ? cube_of_8 : rows_of_8);
  const bool is_one_ring = std::find(sizes.begin(), sizes.end(), 16) != sizes.end();
  if (bounds == Grid{4, 4, 1} && list.size() == 16 && is_one_ring) {
    return permuted(list, ring_of_16);
  }
  return std::nullopt;
}

/// v5p: the ring around a cube.
std::optional<Order> one_cube(const Shape&, const std::vector<Device>& devices,
                              const Location& at) {
  const auto [list, bounds] = by_coordinates(devices, at);
  if (bounds != Grid{2, 2, 2} || list.size() != 8) return std::nullopt;
  return permuted(list, cube_ring_of_8);
}

/// 7x: rings of the 8 cores of a host, up to four hosts in a column.
std::optional<Order> columns_of_hosts(const Shape&, const std::vector<Device>& devices,
                                      const Location& at) {
  if (devices.size() % 8 != 0 || devices.size() > 32) return std::nullopt;
  const Shape torus = physical_mesh(devices, at).torus;
  if (std::max(torus[0], torus[1]) > 2) return std::nullopt;
  return permuted(as_given(devices), ring_of_8);
}

struct KindRow {
  std::string_view kind;
  Handler handler;
};

constexpr std::array<KindRow, 9> kind_rows = {{
    {"TPU v2", pairs_of_cores},
    {"TPU v3", pairs_of_cores},
    {"TPU v4 lite", four_devices},
    {"TPU8i", four_devices},
    {"TPU v5 lite", flat_slices},
    {"TPU v6 lite", flat_slices},
    {"TPU v5p", one_cube},
    {"TPU7x", columns_of_hosts},
    {"TPU7", columns_of_hosts},
}};

}  // namespace

std::optional<std::vector<std::size_t>> ring_order(const Shape& sizes,
                                                   const std::vector<Device>& devices,
                                                   const Location& at) {
  for (const KindRow& row : kind_rows) {
    if (row.kind == devices.back().kind) return row.handler(sizes, devices, at);
  }
  return std::nullopt;
}

}  // namespace shard
