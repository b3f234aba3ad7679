#include "shard/hlo_sharding.h"

#include <algorithm>

#include "shard/axis_atoms.h"

namespace shard {
namespace {

template <class Number>
std::string joined(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string suffix(const HloSharding& sharding) {
  if (sharding.groups.empty()) return "";
  if (sharding.groups == std::vector{TileGroup::replicated}) return " last_tile_dim_replicate";
  std::string words;
  for (const TileGroup group : sharding.groups) {
    words += (words.empty() ? "" : ", ") +
             std::string(tile_group_words[static_cast<std::size_t>(group)]);
  }
  return " last_tile_dims={" + words + "}";
}

/// One word for a sharding without tiles.
std::string word_text(const HloSharding& sharding) {
  const TileGroup group = sharding.groups.empty() ? TileGroup::replicated : sharding.groups.front();
  return "{" + std::string(tile_group_words[static_cast<std::size_t>(group)]) + "}";
}

void add_group(TileGroup group, const std::vector<std::size_t>& members,
               const std::vector<std::int64_t>& sizes, std::vector<std::size_t>& order,
               HloSharding& made) {
  if (members.empty()) return;
  std::int64_t size = 1;
  for (const std::size_t atom : members) size *= sizes[atom];
  made.dims.push_back(size);
  made.groups.push_back(group);
  order.insert(order.end(), members.begin(), members.end());
}

}  // namespace

void set_iota(HloSharding& sharding, const std::vector<std::int64_t>& sizes,
              const std::vector<std::size_t>& order) {
  std::vector<std::vector<std::size_t>> runs;  // of dims that follow each other in both orders
  for (const std::size_t dim : order) {
    if (sizes[dim] == 1) continue;
    std::size_t before = dim;
    while (before > 0 && sizes[before - 1] == 1) --before;
    if (!runs.empty() && before > 0 && runs.back().back() == before - 1) {
      runs.back().push_back(dim);
    } else {
      runs.push_back({dim});
    }
  }
  if (runs.empty()) {
    sharding.reshape = {1};
    sharding.perm = {0};
    return;
  }
  std::vector<std::vector<std::size_t>> in_mesh_order = runs;
  std::sort(in_mesh_order.begin(), in_mesh_order.end());
  sharding.reshape.clear();
  for (const auto& run : in_mesh_order) {
    std::int64_t size = 1;
    for (const std::size_t dim : run) size *= sizes[dim];
    sharding.reshape.push_back(size);
  }
  sharding.perm.clear();
  for (const auto& run : runs) {
    const auto at = std::find(in_mesh_order.begin(), in_mesh_order.end(), run);
    sharding.perm.push_back(static_cast<int>(at - in_mesh_order.begin()));
  }
}

HloSharding hlo_sharding(const Mesh& mesh, const Sharding& sharding) {
  const Axes atoms = mesh_atoms(mesh, used_axes(sharding));
  std::vector<std::int64_t> sizes;
  for (const AxisRef& atom : atoms) sizes.push_back(atom.size);
  HloSharding made;
  std::vector<std::size_t> order;
  for (const DimSharding& dim : sharding.dims) {
    const std::vector<std::size_t> own = atoms_of(atoms, dim.axes);
    order.insert(order.end(), own.begin(), own.end());
    made.dims.push_back(part_count(dim));
  }
  std::vector<std::size_t> unreduced = atoms_of(atoms, sharding.unreduced);
  std::sort(unreduced.begin(), unreduced.end());
  std::vector<std::size_t> manual;
  std::vector<std::size_t> replicated;
  for (std::size_t atom = 0; atom < atoms.size(); ++atom) {
    const bool is_used = std::find(order.begin(), order.end(), atom) != order.end() ||
                         std::find(unreduced.begin(), unreduced.end(), atom) != unreduced.end();
    const bool is_manual = mesh.type(atoms[atom].axis) == AxisType::manual;
    if (!is_used) (is_manual ? manual : replicated).push_back(atom);
  }
  const int groups =
      (manual.empty() ? 0 : 1) + (unreduced.empty() ? 0 : 1) + (replicated.empty() ? 0 : 1);
  const bool is_tiled = !order.empty() || groups > 1;
  add_group(TileGroup::manual, manual, sizes, order, made);
  add_group(TileGroup::unreduced, unreduced, sizes, order, made);
  add_group(TileGroup::replicated, replicated, sizes, order, made);
  if (!is_tiled) {
    made.dims.clear();
    if (made.groups.empty()) made.groups = {TileGroup::replicated};
    return made;
  }
  set_iota(made, sizes, order);
  return made;
}

std::string to_string(const HloSharding& sharding) {
  if (sharding.dims.empty()) return word_text(sharding);
  std::string text = "{devices=[" + joined(sharding.dims) + "]<=[" + joined(sharding.reshape) + "]";
  if (sharding.perm.size() > 1) text += "T(" + joined(sharding.perm) + ")";
  return text + suffix(sharding) + "}";
}

std::string to_string_v1(const HloSharding& sharding) {
  if (sharding.dims.empty()) return word_text(sharding);
  return "{devices=[" + joined(sharding.dims) + "]" + joined(device_list(sharding)) +
         suffix(sharding) + "}";
}

std::vector<std::int64_t> device_list(const HloSharding& sharding) {
  std::vector<std::int64_t> strides(sharding.reshape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * sharding.reshape[i];
  std::vector<std::int64_t> devices = {0};
  for (const int at : sharding.perm) {
    const std::size_t dim = static_cast<std::size_t>(at);
    std::vector<std::int64_t> next;
    for (const std::int64_t base : devices) {
      for (std::int64_t k = 0; k < sharding.reshape[dim]; ++k) {
        next.push_back(base + k * strides[dim]);
      }
    }
    devices = std::move(next);
  }
  return devices;
}

bool is_equivalent(const Mesh& mesh_a, const Sharding& a, const Mesh& mesh_b, const Sharding& b) {
  if (mesh_a.device_count() != mesh_b.device_count()) return false;
  if (hlo_sharding(mesh_a, a) != hlo_sharding(mesh_b, b)) return false;
  for (std::int64_t at = 0; at < mesh_a.device_count(); ++at) {
    if (mesh_a.device_id(at) != mesh_b.device_id(at)) return false;
  }
  return true;
}

}  // namespace shard
