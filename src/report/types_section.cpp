#include <set>
#include <utility>

#include "report/fold.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

struct TypedName {
  std::string name;
  std::string type;
};

/// Where axes are of type auto, types say nothing of them.
std::string type_of_value(const ShardedGraph& sharded, ValueId value) {
  const GraphTypes& types = sharded.types;
  const std::size_t k = index_of(value);
  if (k < types.types.size() && types.types[k]) {
    return type_text(types.mesh(value), *types.types[k]);
  }
  const TensorType& type = sharded.graph.value(value).type;
  ShardedType plain;
  plain.element.name = info(type.dtype).numpy_name;
  plain.shape = type.shape;
  plain.entries.resize(type.shape.size());
  return type_text(sharded.mesh, plain);
}

/// Arguments that the forward pass reads, then its named values in order.
std::vector<TypedName> typed_names(const ShardedGraph& sharded) {
  std::vector<TypedName> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, ValueId value) {
    if (!name.empty() && seen.insert(name).second) {
      names.push_back({name, type_of_value(sharded, value)});
    }
  };
  for (const GraphInput& input : sharded.graph.inputs) {
    const bool is_read = input.role == Role::input || input.role == Role::parameter;
    if (is_read) add(input.path, input.value);
  }
  for (const Node& node : sharded.graph.nodes) {
    if (node.phase != Phase::forward) continue;
    for (const ValueId result : node.results) add(sharded.graph.value(result).name, result);
  }
  for (const GraphOutput& output : sharded.graph.outputs) {
    if (output.role == Role::output) add(output.path, output.value);
  }
  return names;
}

}  // namespace

std::string types_section(const Plan& plan, const Layout& layout) {
  const std::vector<TypedName> names = typed_names(plan.main().sharded);
  std::vector<FoldItem> items;
  for (const TypedName& one : names) {
    items.push_back({one.name, (layout.unfold ? one.name : "") + one.type});
  }
  Table table({{"TYPES"}, {""}});
  for (const auto& group : fold_groups(items)) {
    std::vector<std::string> members;
    for (const std::size_t position : group) members.push_back(names[position].name);
    table.add({fold_names(members), names[group.front()].type});
  }
  return table.empty() ? "" : table.render(layout.width, layout.color);
}

}  // namespace shard
