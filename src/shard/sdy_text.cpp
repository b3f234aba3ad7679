#include "shard/sdy_text.h"

namespace shard {

std::string sdy_mesh(const Mesh& mesh) {
  std::string axes;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    axes += (axes.empty() ? "\"" : ", \"") + axis.name.text() + "\"=" + std::to_string(axis.size);
  }
  return "<[" + axes + "]>";
}

std::string sdy_mesh_line(const Mesh& mesh, const std::string& symbol) {
  std::string axes;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    axes += (axes.empty() ? "" : ", ") + std::string("{name = \"") + axis.name.text() +
            "\", size = " + std::to_string(axis.size) + " : i64}";
  }
  return "sdy.mesh " + symbol + " = " + sdy_mesh(mesh) + " {stablehlo.mesh = {axes = [" + axes +
         "]}}";
}

std::string sdy_sharding(const Mesh& mesh, const Sharding& sharding, const std::string& symbol) {
  const std::string reference = symbol.empty() ? "mesh" + sdy_mesh(mesh) : symbol;
  return "#sdy.sharding<" + reference + ", " + to_string(mesh, sharding) + ">";
}

}  // namespace shard
