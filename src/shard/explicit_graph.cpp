#include "shard/explicit_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "model/guard.h"
#include "model/placement_ask.h"
#include "shard/explicit_op_rows.h"
#include "shard/is_typed.h"
#include "shard/named_sharding.h"

namespace shard {
namespace {

/// For each node that takes an out_sharding: the `constrain` node that has it. The product of a
/// layer takes it, and what follows in the layer (a bias, a conversion) is typed as usual.
std::map<NodeId, NodeId> askers_by_node(const Graph& graph) {
  std::map<NodeId, NodeId> askers;
  for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
    const Node& asker = graph.nodes[k];
    if (asker.op != Op::constrain || asker.phase != Phase::forward ||
        ask_of(asker.attributes) != PlacementAsk::out_sharding) {
      continue;
    }
    const Shape& shape = graph.value(asker.results.front()).type.shape;
    ValueId value = asker.operands.front();
    while (graph.value(value).producer != NodeId::none) {
      const NodeId made_by = graph.value(value).producer;
      const Node& node = graph.node(made_by);
      const OpTyping* row = op_typing(def(node.op).name);
      if (row != nullptr && row->takes_out_sharding && node.op != Op::broadcast) {
        askers.emplace(made_by, id_at<NodeId>(k));
        break;
      }
      const bool is_step = def(node.op).is_elementwise && node.op != Op::constrain;
      if (!is_step || graph.value(node.operands.front()).type.shape != shape) break;
      value = node.operands.front();
    }
  }
  return askers;
}

/// A region whose axes have another type.
struct ModeRegion {
  int mesh = 0;
  int outer = -1;  ///< the region around it, -1 for none
};

class GraphTyper {
 public:
  GraphTyper(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& inputs,
             const std::vector<PartitionSpec>& placements)
      : graph_(graph), placements_(placements), askers_(askers_by_node(graph)) {
    typed_.types.resize(graph.values.size());
    typed_.mesh_of.assign(graph.values.size(), 0);
    typed_.meshes = {mesh};
    regions_ = {ModeRegion{}};
    region_of_.assign(graph.values.size(), 0);
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
      const ValueId value = graph.inputs[k].value;
      set(value, type_of_sharding(mesh, graph.value(value).type, inputs[k]), 0);
    }
    walk(graph.body());
  }

  GraphTypes take() { return std::move(typed_); }

 private:
  const std::optional<ShardedType>& type(ValueId value) const {
    return typed_.types[index_of(value)];
  }

  void set(ValueId value, ShardedType type, int region) {
    const std::string_view name = info(graph_.value(value).type.dtype).numpy_name;
    type.element = {std::string(name), false};
    type.typed_on = nullptr;
    type.is_number = false;
    typed_.types[index_of(value)] = std::move(type);
    region_of_[index_of(value)] = region;
    typed_.mesh_of[index_of(value)] = regions_[static_cast<std::size_t>(region)].mesh;
  }

  void walk(const Region& region) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      const auto has_type = [&](ValueId value) { return type(value).has_value(); };
      const bool is_typed = std::all_of(node.operands.begin(), node.operands.end(), has_type);
      if (node.phase != Phase::forward || !is_typed) continue;
      ShardedTypes operands;
      for (const ValueId operand : node.operands) operands.push_back(*type(operand));
      try {
        step(id, node, operands);
      } catch (const TypingRefusal& refusal) {
        ShardedTypes seen;
        const Mesh& mesh = mesh_in(region_of(node));
        for (const ShardedType& operand : operands) seen.push_back(seen_in(mesh, operand));
        typed_.mistakes.push_back({id, refusal.kind(), told(node, seen, refusal), seen});
      }
    }
  }

  /// What was refused, behind the types it was refused for.
  std::string told(const Node& node, const ShardedTypes& operands,
                   const TypingRefusal& refusal) const {
    std::string inputs;
    for (const ShardedType& operand : operands) {
      inputs += (inputs.empty() ? "" : ", ") + type_text(mesh_in(region_of(node)), operand);
    }
    return std::string(def(node.op).name) + " of " + inputs + ": " + refusal.what();
  }

  /// The region that the operands are in: the innermost of theirs.
  int region_of(const Node& node) const {
    int region = 0;
    for (const ValueId operand : node.operands) {
      region = std::max(region, region_of_[index_of(operand)]);
    }
    return region;
  }

  const Mesh& mesh_in(int region) const {
    return typed_.meshes[static_cast<std::size_t>(regions_[static_cast<std::size_t>(region)].mesh)];
  }

  void step(NodeId id, const Node& node, const ShardedTypes& operands) {
    if (node.region != RegionId::none) return loop(node, operands);
    if (node.op == Op::constrain) return place(node, operands.front());
    const int region = region_of(node);
    const Mesh& mesh = mesh_in(region);
    ShardedTypes seen;
    for (const ShardedType& operand : operands) seen.push_back(seen_in(mesh, operand));
    const auto asker = askers_.find(id);
    const PartitionSpec* out =
        asker == askers_.end() ? nullptr : &spec_of(graph_.node(asker->second));
    ShardedTypes types = typed(mesh, node, std::move(seen), out);
    for (std::size_t k = 0; k < node.results.size(); ++k) set(node.results[k], types[k], region);
  }

  /// As a region's mesh has it: without the axes that are of type auto there.
  static ShardedType seen_in(const Mesh& mesh, const ShardedType& value) {
    return make_type(mesh, value.element, value.shape, value.entries, value.unreduced,
                     value.reduced);
  }

  ShardedTypes typed(const Mesh& mesh, const Node& node, ShardedTypes operands,
                     const PartitionSpec* out) const {
    const OpDef& row = def(node.op);
    const OpTyping* typing = op_typing(row.name);
    if (typing != nullptr) {
      const Parameters parameters =
          typing->parameters == nullptr ? Parameters{} : typing->parameters(node.attributes);
      if (typing->rule == "lax.gather") add_index_dim(operands, node.attributes);
      return typing_row(typing->rule)->rule({mesh, row.name, std::move(operands), parameters, out});
    }
    if (row.is_elementwise) {
      const std::string_view rule = operands.size() == 1 ? "lax.exp" : "lax.max";
      const ShardedType type = typing_row(rule)->rule({mesh, row.name, operands, {}}).front();
      return ShardedTypes(node.results.size(), type);
    }
    if (row.factor_rule == nullptr) refuse(RefusalKind::unknown_op, std::string(row.name));
    return typed_by_factors(mesh, row.name, rule_of(graph_, node), operands,
                            types_of(graph_, node.results));
  }

  /// Indices without a dim for their vector stand for vectors of one.
  static void add_index_dim(ShardedTypes& operands, const Attributes& attributes) {
    ShardedType& indices = operands[1];
    if (attributes.integer("index_vector_dim") < static_cast<std::int64_t>(indices.rank())) return;
    indices.shape.push_back(1);
    indices.entries.emplace_back();
  }

  const PartitionSpec& spec_of(const Node& node) const {
    return placements_[static_cast<std::size_t>(node.attributes.integer("placement"))];
  }

  bool has_spec(const Node& node) const {
    const auto k = static_cast<std::size_t>(node.attributes.integer("placement"));
    return !graph_.placements[k].is_unannotated();
  }

  void place(const Node& node, const ShardedType& operand) {
    const int region = region_of(node);
    const ValueId result = node.results.front();
    switch (ask_of(node.attributes)) {
      case PlacementAsk::constraint:
        return set(
            result,
            has_spec(node) ? ask("with_sharding_constraint", node, operand, region) : operand,
            region);
      case PlacementAsk::out_sharding:
        return set(result, took(node) ? operand : ask("reshard", node, operand, region), region);
      case PlacementAsk::reshard:
        return set(result, ask("reshard", node, operand, region), region);
      case PlacementAsk::enter_auto:
        return set(result, operand, enter(node, region, AxisType::automatic));
      case PlacementAsk::enter_explicit: {
        const int inner = enter(node, region, AxisType::explicit_types);
        return set(result, ask("reshard", node, operand, inner), inner);
      }
      case PlacementAsk::leave_explicit: {
        const int outer = std::max(0, regions_[static_cast<std::size_t>(region)].outer);
        return set(result, seen_in(mesh_in(outer), operand), outer);
      }
      case PlacementAsk::enter_manual:
        check_in_specs(node, operand, mesh_in(region));
        return set(result, operand, region);
      case PlacementAsk::manual:
        return set(result, in_manual(node, operand, mesh_in(region)), region);
      case PlacementAsk::leave_auto: {
        const int outer = std::max(0, regions_[static_cast<std::size_t>(region)].outer);
        return set(result, ask("reshard", node, operand, outer), outer);
      }
    }
  }

  /// Some node before took the out_sharding that this one has.
  bool took(const Node& node) const {
    return std::any_of(askers_.begin(), askers_.end(),
                       [&](const auto& entry) { return &graph_.node(entry.second) == &node; });
  }

  ShardedType ask(std::string_view op, const Node& node, const ShardedType& operand,
                  int region) const {
    return type_op({mesh_in(region), op, {operand}, {}, &spec_of(node)}).front();
  }

  /// The written entries; nothing for a dim that is left as it is.
  std::vector<std::optional<TypeEntry>> written_entries(const Node& node, const Mesh& mesh,
                                                        std::size_t rank) const {
    const PartitionSpec* spec =
        graph_.placements[static_cast<std::size_t>(node.attributes.integer("placement"))].mesh();
    std::vector<std::optional<TypeEntry>> entries(rank, TypeEntry{});
    for (std::size_t dim = 0; spec != nullptr && dim < spec->entries.size(); ++dim) {
      if (spec->entries[dim].is_unconstrained) entries[dim].reset();
      for (const MeshAxis& axis : spec->entries[dim].axes) {
        entries[dim]->push_back(mesh.find(axis).value());
      }
    }
    return entries;
  }

  /// Axes of type Explicit are never resharded on the way into a manual region.
  void check_in_specs(const Node& node, const ShardedType& operand, const Mesh& mesh) const {
    const auto entries = written_entries(node, mesh, operand.rank());
    const std::string manual = "," + node.attributes.text("axes") + ",";
    const auto is_manual = [&](int axis) {
      const std::string& name = mesh.axes()[static_cast<std::size_t>(axis)].name.text();
      return manual.find("," + name + ",") != manual.npos;
    };
    for (std::size_t dim = 0; dim < operand.rank(); ++dim) {
      TypeEntry has, wants;
      std::copy_if(operand.entries[dim].begin(), operand.entries[dim].end(),
                   std::back_inserter(has), is_manual);
      for (const int axis : entries[dim].value_or(TypeEntry{})) {
        if (mesh.type(axis) == AxisType::explicit_types) wants.push_back(axis);
      }
      if (has == wants) continue;
      refuse(RefusalKind::in_specs,
             "in_specs passed to shard_map: " + to_string(spec_of(node)) +
                 " does not match the specs of the input: " + to_string(type_spec(mesh, operand)));
    }
  }

  /// The type with the written entries; a move inside a manual region is asked for.
  static ShardedType with_entries(const Mesh& mesh, const ShardedType& operand,
                                  const std::vector<std::optional<TypeEntry>>& written) {
    TypeEntries entries = operand.entries;
    for (std::size_t dim = 0; dim < entries.size(); ++dim) {
      if (written[dim]) entries[dim] = *written[dim];
    }
    return make_type(mesh, operand.element, operand.shape, std::move(entries), operand.unreduced,
                     operand.reduced);
  }

  ShardedType in_manual(const Node& node, const ShardedType& operand, const Mesh& mesh) const {
    return with_entries(mesh, operand, written_entries(node, mesh, operand.rank()));
  }

  static void check_names(const std::string& names, const Mesh& mesh) {
    for (std::size_t start = 0; start < names.size();) {
      const std::size_t end = std::min(names.find(',', start), names.size());
      const std::string name = names.substr(start, end - start);
      if (!mesh.find(MeshAxis(name))) {
        refuse(RefusalKind::unknown_axis,
               "axis " + name + " of the region is not found in mesh: " + to_string(mesh));
      }
      start = end + 1;
    }
  }

  /// One region per place in the file, however often its layers are built.
  int enter(const Node& node, int outer, AxisType type) {
    const auto [found, is_new] = entered_.try_emplace({node.attributes.text("axes"), type, outer},
                                                      static_cast<int>(regions_.size()));
    if (!is_new) return found->second;
    std::vector<MeshAxisInfo> axes = mesh_in(outer).axes();
    const std::string names = "," + node.attributes.text("axes") + ",";
    check_names(node.attributes.text("axes"), mesh_in(outer));
    for (MeshAxisInfo& axis : axes) {
      const bool is_named = names.find("," + axis.name.text() + ",") != names.npos;
      if (names == ",," || is_named) axis.type = type;
    }
    typed_.meshes.emplace_back(std::move(axes));
    regions_.push_back({static_cast<int>(typed_.meshes.size()) - 1, outer});
    return found->second;
  }

  /// A `repeat`: carries keep their types, stacks are whole along their leading dim.
  void loop(const Node& node, const ShardedTypes& operands) {
    const Region& body = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    const int region = region_of(node);
    const Mesh mesh = mesh_in(region);  // the body may add regions
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool is_stack = k >= carries && k < carries + stacked;
      set(body.parameters[k], is_stack ? slice_of(mesh, operands[k]) : operands[k], region);
    }
    walk(body);
    for (std::size_t k = 0; k < node.results.size(); ++k) {
      if (!type(body.results[k])) continue;
      const bool starts_empty = k < carries && is_guarded(node) && is_constant(node.operands[k]);
      if (k < carries && !starts_empty) check_carry(mesh, operands[k], *type(body.results[k]));
      set(node.results[k],
          starts_empty  ? *type(body.results[k])
          : k < carries ? operands[k]
                        : stack_of(mesh, *type(body.results[k]), node),
          region);
    }
  }

  /// Zeros in place of the other way of a cond have no type of their own.
  bool is_constant(ValueId value) const {
    const NodeId producer = graph_.value(value).producer;
    return producer != NodeId::none && graph_.node(producer).op == Op::constant;
  }

  static ShardedType slice_of(const Mesh& mesh, const ShardedType& stack) {
    if (!stack.entries[0].empty()) {
      refuse(RefusalKind::stacked_dim,
             "0th dimension of all xs should be replicated: the loop "
             "walks over a stack that is " +
                 type_text(mesh, stack));
    }
    return make_type(mesh, stack.element, {stack.shape.begin() + 1, stack.shape.end()},
                     {stack.entries.begin() + 1, stack.entries.end()}, stack.unreduced,
                     stack.reduced);
  }

  static ShardedType stack_of(const Mesh& mesh, const ShardedType& slice, const Node& node) {
    ShardedType stack = slice;
    stack.shape.insert(stack.shape.begin(), node.attributes.integer("times"));
    stack.entries.insert(stack.entries.begin(), TypeEntry{});
    return make_type(mesh, stack.element, stack.shape, stack.entries, stack.unreduced,
                     stack.reduced);
  }

  static void check_carry(const Mesh& mesh, const ShardedType& before, const ShardedType& after) {
    if (same_placement(before, after)) return;
    refuse(RefusalKind::loop_carry,
           "carry input and carry output must have equal types: the loop starts with " +
               type_text(mesh, before) + " and goes on with " + type_text(mesh, after));
  }

  const Graph& graph_;
  const std::vector<PartitionSpec>& placements_;
  std::map<NodeId, NodeId> askers_;
  GraphTypes typed_;
  std::vector<ModeRegion> regions_;  ///< [0] is the graph itself
  std::vector<int> region_of_;       ///< by ValueId
  std::map<std::tuple<std::string, AxisType, int>, int> entered_;
};

}  // namespace

bool is_typed(const Graph& graph, const Mesh& mesh) {
  return mesh.has(AxisType::explicit_types) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
           return node.op == Op::constrain &&
                  ask_of(node.attributes) == PlacementAsk::enter_explicit;
         });
}

GraphTypes type_graph(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& inputs,
                      const std::vector<PartitionSpec>& placements) {
  return GraphTyper(graph, mesh, inputs, placements).take();
}

Sharding sharding_of_type(const Mesh& mesh, const ShardedType& type) {
  Sharding sharding;
  for (const TypeEntry& entry : type.entries) {
    DimSharding& dim = sharding.dims.emplace_back();
    for (const int axis : entry) dim.axes.push_back(mesh.full(axis));
  }
  for (const int axis : type.unreduced) sharding.unreduced.push_back(mesh.full(axis));
  return opened_for_auto(mesh, sharding, type_spec(mesh, type).reduced);
}

ShardedType type_of_sharding(const Mesh& mesh, const TensorType& type, const Sharding& sharding) {
  TypeEntries entries;
  for (const DimSharding& dim : sharding.dims) {
    TypeEntry& entry = entries.emplace_back();
    for (const AxisRef& axis : dim.axes) entry.push_back(axis.axis);
  }
  TypeEntry unreduced;
  for (const AxisRef& axis : sharding.unreduced) unreduced.push_back(axis.axis);
  std::sort(unreduced.begin(), unreduced.end());
  return make_type(mesh, {std::string(info(type.dtype).numpy_name)}, type.shape, std::move(entries),
                   std::move(unreduced));
}

}  // namespace shard
