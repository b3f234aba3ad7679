#include "shard/build_on.h"

namespace shard {

BuildOptions options_on(const Mesh& mesh) {
  BuildOptions options;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    options.mesh_axes.emplace_back(axis.name.text(), axis.size);
  }
  return options;
}

}  // namespace shard
