#include "check/resolver_answers.h"

#include <algorithm>
#include <set>

namespace shard {
namespace {

/// Without axes of one device and trailing Nones.
PartitionSpec effective(const Mesh& mesh, PartitionSpec spec) {
  for (PartitionEntry& entry : spec.entries) {
    std::erase_if(entry.axes, [&](const MeshAxis& name) {
      const auto axis = mesh.find(name);
      return axis && mesh.size(*axis) == 1;
    });
  }
  while (!spec.entries.empty() && spec.entries.back() == PartitionEntry{}) spec.entries.pop_back();
  return spec;
}

/// The id of what JAX refuses about a spec on this mesh; empty when nothing.
std::string refusal_of(const Mesh& mesh, const PartitionSpec& spec) {
  std::set<MeshAxis> used;
  bool is_unknown = false;
  for (const PartitionEntry& entry : spec.entries) {
    for (const MeshAxis& axis : entry.axes) {
      if (!used.insert(axis).second) return "duplicate-mesh-axis";
      is_unknown = is_unknown || !mesh.find(axis);
    }
  }
  return is_unknown ? "unknown-mesh-axis" : "";
}

/// NNX's spec without the names that it takes for mesh axes.
PartitionSpec without_names(const Mesh& mesh, const RuleDecision& decision) {
  PartitionSpec spec = decision.nnx;
  for (std::size_t dim = 0; dim < spec.entries.size() && dim < decision.dims.size(); ++dim) {
    const DimDecision& one = decision.dims[dim];
    const auto& name = decision.names.names[dim];
    const bool is_taken_for_axis = name && one.rule == 0 && one.lost.empty();
    if (is_taken_for_axis && !mesh.find(MeshAxis(name->text()))) spec.entries[dim] = {};
  }
  return spec;
}

}  // namespace

ResolverAnswers resolver_answers(const Mesh& mesh, const RuleDecision& decision) {
  const PartitionSpec linen = effective(mesh, decision.linen);
  const PartitionSpec nnx = effective(mesh, decision.nnx);
  ResolverAnswers answers;
  answers.linen = to_string(linen);
  answers.nnx = to_string(nnx);
  answers.refusal = refusal_of(mesh, decision.nnx);
  answers.agree = linen == nnx && answers.refusal.empty();
  const PartitionSpec known = without_names(mesh, decision);
  answers.refuses_names_only = answers.refusal == "unknown-mesh-axis" &&
                               refusal_of(mesh, known).empty() && effective(mesh, known) == linen;
  return answers;
}

}  // namespace shard
