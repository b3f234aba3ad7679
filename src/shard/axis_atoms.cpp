#include "shard/axis_atoms.h"

#include <algorithm>

namespace shard {

Axes used_axes(const Sharding& sharding) {
  Axes used;
  for (const DimSharding& dim : sharding.dims) {
    used.insert(used.end(), dim.axes.begin(), dim.axes.end());
  }
  used.insert(used.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  return used;
}

Axes mesh_atoms(const Mesh& mesh, const Axes& axes) {
  Axes atoms;
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) {
    const int axis = static_cast<int>(i);
    std::vector<std::int64_t> cuts = {1, mesh.size(axis)};
    for (const AxisRef& used : axes) {
      if (used.axis != axis) continue;
      cuts.push_back(used.pre_size);
      cuts.push_back(used.pre_size * used.size);
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t k = 1; k < cuts.size(); ++k) {
      if (cuts[k] > cuts[k - 1]) atoms.push_back({axis, cuts[k - 1], cuts[k] / cuts[k - 1]});
    }
  }
  return atoms;
}

std::vector<std::size_t> atoms_of(const Axes& atoms, const Axes& axes) {
  std::vector<std::size_t> found;
  for (const AxisRef& axis : axes) {
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (contains(axis, atoms[i])) found.push_back(i);
    }
  }
  return found;
}

}  // namespace shard
