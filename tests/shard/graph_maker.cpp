#include "graph_maker.h"

#include <sstream>

namespace shard::tests {

SpecConfig placed(const std::vector<std::string>& dims, int line) {
  PartitionSpec spec;
  for (const std::string& dim : dims) {
    PartitionEntry& entry = spec.entries.emplace_back();
    entry.is_unconstrained = dim == "?";
    std::istringstream axes(entry.is_unconstrained ? "" : dim);
    for (std::string axis; std::getline(axes, axis, ',');) entry.axes.emplace_back(axis);
  }
  return {spec, {"m.yaml", line, 3, 1}};
}

SpecConfig named(const std::vector<std::string>& names, int line) {
  LogicalSpec spec;
  for (const std::string& name : names) {
    spec.names.emplace_back();
    if (!name.empty()) spec.names.back() = LogicalAxis(name);
  }
  return {spec, {"m.yaml", line, 3, 1}};
}

ValueId GraphMaker::input(const std::string& path, const Shape& shape,
                          std::vector<std::string> labels, SpecConfig placement, Role role) {
  labels.resize(shape.size());
  const ValueId value = build.add_value({DType::f32, shape}, path, std::move(labels), {});
  graph.inputs.push_back({value, path, role, -1, std::move(placement)});
  graph.regions.front().parameters.push_back(value);
  return value;
}

void GraphMaker::output(const std::string& path, ValueId value,
                        std::optional<SpecConfig> placement) {
  graph.outputs.push_back({value, path, Role::output, -1, -1, std::move(placement)});
  graph.regions.front().results.push_back(value);
}

ValueId GraphMaker::dot(ValueId lhs, ValueId rhs) {
  const std::int64_t last = build.type(lhs).rank() - 1;
  using Dims = std::vector<std::int64_t>;
  return build.emit(Op::dot, {lhs, rhs},
                    {{"lhs_batch", Dims{}},
                     {"rhs_batch", Dims{}},
                     {"lhs_contract", Dims{last}},
                     {"rhs_contract", Dims{0}}});
}

ValueId GraphMaker::constrain(ValueId value, SpecConfig placement) {
  graph.placements.push_back(std::move(placement));
  const auto index = static_cast<std::int64_t>(graph.placements.size()) - 1;
  return build.emit(Op::constrain, {value}, {{"placement", index}});
}

ValueId GraphMaker::constant(const Shape& shape, double value) {
  return build.emit(Op::constant, {}, {{"shape", shape}, {"value", value}, {"dtype", "f32"}});
}

std::string GraphMaker::specs(const ShardedGraph& sharded,
                              const std::vector<ValueId>& values) const {
  std::string text;
  for (const ValueId value : values) {
    text += spec_text(sharded.mesh, sharded.sharding(value)) + "\n";
  }
  return text;
}

Mesh guide_mesh() { return Mesh({{MeshAxis("data"), 2, {}}, {MeshAxis("model"), 4, {}}}); }

}  // namespace shard::tests
