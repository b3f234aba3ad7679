#include "shard/sharded_graph.h"

#include <algorithm>
#include <iterator>

#include "model/placement_ask.h"
#include "shard/axes.h"
#include "shard/boundary.h"
#include "shard/is_typed.h"
#include "shard/legal_sizes.h"
#include "shard/padding.h"
#include "shard/path_rules.h"
#include "shard/propagate.h"
#include "shard/resolve_state.h"

namespace shard {
namespace {

/// Resolves every spec of the graph; nothing is propagated yet.
class Placement {
 public:
  Placement(const Graph& graph, const RulesConfig& rules, const Mesh& mesh)
      : graph_(graph),
        mesh_(mesh),
        resolver_(rules, mesh, found_),
        has_paths_(!rules.paths.empty()) {
    for (const GraphInput& input : graph.inputs) {
      if (has_paths_ && input.role == Role::parameter) parameters_.add(input.path);
    }
    for (const GraphValue& value : graph.values) {
      given.values.push_back(open_sharding(value.type.rank()));
      reasons.emplace_back(value.type.shape.size());
    }
    place_inputs();
    place_constraints();
    place_outputs();
    take_found();
    diagnostics_.throw_if_errors();
  }

  const Resolver& resolver() const { return resolver_; }

  /// What the types of the inputs make of the forward values.
  GraphTypes types(const Mesh& mesh) const {
    if (!is_typed(graph_, mesh)) return {};
    std::vector<Sharding> inputs;
    for (const GraphInput& input : graph_.inputs) {
      inputs.push_back(given.values[index_of(input.value)]);
    }
    std::vector<PartitionSpec> placements;
    for (const Sharding& wanted : given.constraints) placements.push_back(spec_on(mesh, wanted));
    return type_graph(graph_, mesh, inputs, placements);
  }

  /// Values with a type have its sharding; what is left open is for propagation.
  void give(const GraphTypes& types) {
    if (types.types.empty()) return;
    // The axes of type auto of an input that is placed are no part of its type.
    std::vector<char> is_placed(graph_.values.size(), 0);
    for (const GraphInput& input : graph_.inputs) {
      const Sharding& sharding = given.values[index_of(input.value)];
      is_placed[index_of(input.value)] = !(sharding == open_sharding(sharding.rank()));
    }
    for (std::size_t k = 0; k < types.types.size(); ++k) {
      const auto value = id_at<ValueId>(k);
      if (!types.types[k] || is_placed[k] != 0) continue;
      given.values[k] = sharding_of_type(types.mesh(value), *types.types[k]);
      const NodeId made_by = graph_.value(value).producer;
      for (std::size_t dim = 0; dim < reasons[k].size(); ++dim) {
        if (given.values[k].dims[dim].axes.empty() || !reasons[k][dim].empty()) continue;
        reasons[k][dim].push_back(
            reason_for(ReasonKind::typed, {}, given.values[k].dims[dim].axes));
        reasons[k][dim].back().via = made_by;
      }
    }
  }

  /// The dims that `misfit: pad` has cut into more pieces than divide them.
  std::vector<PaddingNeed> padding_needs() const {
    std::vector<PaddingNeed> needs;
    for (const GraphInput& input : graph_.inputs) {
      add_needs({input.value, 0, 1, input.path, input.placement.at},
                given.values[index_of(input.value)], needs);
    }
    for (const Node& node : graph_.nodes) {
      if (node.op != Op::constrain) continue;
      const auto placement = static_cast<std::size_t>(node.attributes.integer("placement"));
      add_needs({node.results.front(), 0, 1, node.name, graph_.placements[placement].at},
                given.constraints[placement], needs);
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const GraphOutput& output = graph_.outputs[i];
      const Location at = output.placement ? output.placement->at : Location{};
      add_needs({output.value, 0, 1, output.path, at}, given.results[i], needs);
    }
    return needs;
  }

  GivenShardings given;
  std::vector<ValueReasons> reasons;

 private:
  static PartitionSpec spec_on(const Mesh& mesh, const Sharding& sharding) {
    const auto name = [&](const AxisRef& ref) {
      return mesh.axes()[static_cast<std::size_t>(ref.axis)].name;
    };
    PartitionSpec spec;
    for (const DimSharding& dim : sharding.dims) {
      PartitionEntry& entry = spec.entries.emplace_back();
      for (const AxisRef& axis : dim.axes) entry.axes.push_back(name(axis));
    }
    for (const AxisRef& axis : sharding.unreduced) spec.unreduced.insert(name(axis));
    return spec;
  }

  void add_needs(PaddingNeed need, const Sharding& sharding,
                 std::vector<PaddingNeed>& needs) const {
    const Shape& shape = graph_.value(need.value).type.shape;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      need.dim = static_cast<int>(dim);
      need.parts = part_count(sharding.dims[dim]);
      if (shape[dim] % need.parts != 0) needs.push_back(need);
    }
  }

  /// Which parameter an array goes with where the rules place by path.
  std::string followed_by(Role role, const std::string& path) const {
    const bool mirrors = role == Role::optimizer || role == Role::gradient;
    return mirrors && has_paths_ ? parameters_.find(path) : "";
  }

  void place_inputs() {
    for (const GraphInput& input : graph_.inputs) {
      const GraphValue& value = graph_.value(input.value);
      const std::string followed = followed_by(input.role, input.path);
      const bool is_by_path = has_paths_ && resolver_.is_placed_by_path(input.path, followed);
      Resolved resolved =
          resolver_.resolve({input.placement, value.type, part_of(input.role), input.path,
                             value.labels, input.iteration.count(), followed});
      reasons[index_of(input.value)] = std::move(resolved.reasons);
      const bool is_left_open =
          input.placement.is_unannotated() && input.role == Role::input && !is_by_path;
      if (is_left_open) continue;
      check_typed_dims(input, resolved.sharding);
      given.values[index_of(input.value)] = std::move(resolved.sharding);
    }
  }

  /// Arrays can be padded, types cannot.
  void check_typed_dims(const GraphInput& input, const Sharding& sharding) {
    const Shape& shape = graph_.value(input.value).type.shape;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      Axes typed = sharding.dims[dim].axes;
      std::erase_if(typed, [&](const AxisRef& axis) {
        return mesh_.type(axis.axis) != AxisType::explicit_types;
      });
      if (shape[dim] % product(typed) == 0) continue;
      diagnostics_.error("indivisible", input.placement.at,
                         "dim " + std::to_string(dim) + " of " + input.path + " has size " +
                             std::to_string(shape[dim]) + ", and axes of type explicit split it " +
                             std::to_string(product(typed)) + " ways (" +
                             factors_text(mesh_, typed) +
                             "), which should evenly divide the shape " + to_string(shape),
                         "`misfit: pad` pads over axes of type auto alone");
    }
  }

  void place_outputs() {
    for (const GraphOutput& output : graph_.outputs) {
      const GraphValue& value = graph_.value(output.value);
      const std::string followed = followed_by(output.role, output.path);
      const bool is_by_path = has_paths_ && resolver_.is_placed_by_path(output.path, followed);
      if (!output.placement && !is_by_path) {
        given.results.push_back(open_sharding(value.type.rank()));
        continue;
      }
      const SpecConfig placement = output.placement.value_or(SpecConfig{});
      given.results.push_back(
          resolver_
              .resolve({placement, value.type, part_of(output.role), output.path, value.labels,
                        output.iteration.count(), followed})
              .sharding);
    }
  }

  /// Each placement once, for the first node that uses it; all its nodes get the reasons.
  void place_constraints() {
    given.constraints.resize(graph_.placements.size());
    std::vector<ValueReasons> of_placement(graph_.placements.size());
    std::vector<bool> is_placed(graph_.placements.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.op != Op::constrain) continue;
      const auto placement = static_cast<std::size_t>(node.attributes.integer("placement"));
      if (!is_placed[placement]) {
        of_placement[placement] = place_constraint(node, placement);
        is_placed[placement] = true;
      }
      note_constraint(id_at<NodeId>(i), of_placement[placement], placement);
    }
  }

  ValueReasons place_constraint(const Node& node, std::size_t placement) {
    const SpecConfig& spec = graph_.placements[placement];
    if (ask_of(node.attributes) == PlacementAsk::reshard && !is_typed(graph_, mesh_)) {
      diagnostics_.error("axis-not-explicit", spec.at,
                         "reshard moves along mesh axes of type explicit, and the mesh has none",
                         "use constrain, or say `axis_types: explicit` in the rules file");
    }
    const GraphValue& operand = graph_.value(node.operands.front());
    const std::string& what = operand.name.empty() ? node.name : operand.name;
    const PlacementAsk asks = ask_of(node.attributes);
    SpecQuestion question{spec, operand.type, Part::activations, what,
                          graph_.value(node.results.front()).labels};
    question.keeps_dims = asks == PlacementAsk::enter_manual || asks == PlacementAsk::manual;
    Resolved resolved = resolver_.resolve(question);
    const bool is_none = spec.is_unannotated() || !resolved.is_constraint;
    given.constraints[placement] =
        is_none ? open_sharding(operand.type.rank()) : std::move(resolved.sharding);
    return is_none ? ValueReasons(operand.type.shape.size()) : std::move(resolved.reasons);
  }

  void note_constraint(NodeId id, const ValueReasons& why, std::size_t placement) {
    const Sharding& wanted = given.constraints[placement];
    ValueReasons& own = reasons[index_of(graph_.node(id).results.front())];
    for (std::size_t dim = 0; dim < why.size(); ++dim) {
      if (why[dim].empty()) continue;
      own[dim].push_back(reason_for(ReasonKind::constraint, graph_.placements[placement].at,
                                    wanted.dims[dim].axes));
      own[dim].back().via = id;
      std::copy_if(why[dim].begin(), why[dim].end(), std::back_inserter(own[dim]),
                   [](const Reason& reason) {  // "as written" is what a constraint is
                     return reason.kind != ReasonKind::explicit_spec;
                   });
    }
  }

  /// On a mesh of Explicit axes a constraint is an assertion about a type, and what it asks is
  /// compared when the types are known.
  void take_found() {
    std::vector<Diagnostic> kept = found_.all();
    if (mesh_.is_explicit()) {
      std::erase_if(kept, [](const Diagnostic& one) { return one.id == "explicit-constraint"; });
    }
    diagnostics_.append(kept);
  }

  const Graph& graph_;
  const Mesh& mesh_;
  Diagnostics diagnostics_;
  Diagnostics found_;  ///< what the resolver finds
  Resolver resolver_;
  bool has_paths_;
  MirroredParameters parameters_;
};

/// A constraint speaks about its operand too (see FlowBuilder::finish): where the operand got its
/// sharding that way, the constraint is the reason.
void explain_constrained_operands(const ShardedGraph& sharded, const Propagation& done,
                                  std::vector<ValueReasons>& reasons) {
  for (const Node& node : sharded.graph.nodes) {
    if (node.op != Op::constrain) continue;
    const ValueId operand = node.operands.front();
    ValueReasons& own = reasons[index_of(operand)];
    const ValueReasons& gained = done.reasons[index_of(operand)];
    const Sharding& sharding = done.shardings[index_of(operand)];
    for (std::size_t dim = 0; dim < own.size(); ++dim) {
      const bool is_explained = !own[dim].empty() || !gained[dim].empty();
      const std::vector<Reason>& why = reasons[index_of(node.results.front())][dim];
      if (is_explained || sharding.dims[dim].is_open || why.empty()) continue;
      std::copy_if(why.begin(), why.end(), std::back_inserter(own[dim]),
                   [](const Reason& reason) { return reason.kind != ReasonKind::propagated; });
    }
  }
}

/// Pads, and leaves the values that are added for it to propagation.
void pad(Graph& graph, const std::vector<PaddingNeed>& needs, Placement& placement) {
  Diagnostics diagnostics;
  pad_graph(graph, needs, diagnostics);
  diagnostics.throw_if_errors();
  for (std::size_t i = placement.given.values.size(); i < graph.values.size(); ++i) {
    placement.given.values.push_back(open_sharding(graph.values[i].type.rank()));
    placement.reasons.emplace_back(graph.values[i].type.shape.size());
  }
}

/// Cuts a dim to the axes that divide it.
void make_even(DimSharding& dim, std::int64_t size, std::vector<Reason>& reasons) {
  dim.is_open = false;
  if (size % part_count(dim) == 0) return;
  Axes even = dividing_prefix(dim.axes, size);
  reasons.push_back(reason_for(ReasonKind::uneven, {}, beyond(even, dim.axes)));
  dim.axes = std::move(even);
}

/// Puts what was given before what was gained.
void join_reasons(ShardedGraph& sharded, std::vector<ValueReasons> before, Propagation& done) {
  sharded.reasons = std::move(before);
  for (std::size_t value = 0; value < done.reasons.size(); ++value) {
    ValueReasons& own = sharded.reasons[value];
    for (std::size_t dim = 0; dim < own.size(); ++dim) {
      auto& gained = done.reasons[value][dim];
      if (!gained.empty() && !own[dim].empty() &&
          own[dim].front().kind == ReasonKind::unannotated) {
        own[dim].clear();
      }
      if (own[dim].empty()) {
        own[dim] = std::move(gained);
      } else {
        std::move(gained.begin(), gained.end(), std::back_inserter(own[dim]));
      }
    }
  }
}

}  // namespace

GraphTypes graph_types(const Graph& graph, const RulesConfig& rules, const Mesh& mesh) {
  return Placement(graph, rules, mesh).types(mesh);
}

Diagnostic to_diagnostic(const Graph& graph, const TypingMistake& mistake) {
  const Node& node = graph.node(mistake.node);
  const std::string& name = node.name.empty() ? std::string(def(node.op).name) : node.name;
  return {Severity::error, std::string(row_of(mistake.kind).id), node.at,
          "'" + name + "' has no type: " + mistake.message, ""};
}

ShardedGraph shard_graph(Graph graph, const RulesConfig& rules, const Mesh& mesh) {
  Placement placement(graph, rules, mesh);
  ShardedGraph sharded;
  sharded.types = placement.types(mesh);
  if (!sharded.types.mistakes.empty()) {
    Diagnostics diagnostics;
    for (const TypingMistake& mistake : sharded.types.mistakes) {
      diagnostics.append({to_diagnostic(graph, mistake)});
    }
    diagnostics.throw_if_errors();
  }
  placement.give(sharded.types);
  if (const std::vector<PaddingNeed> needs = placement.padding_needs(); !needs.empty()) {
    sharded.unpadded = graph;
    pad(graph, needs, placement);
  }
  sharded.mesh = mesh;
  sharded.reshard_memory = rules.reshard_memory;
  sharded.rule_uses = placement.resolver().uses();
  sharded.decisions = placement.resolver().decisions();
  sharded.path_arrays = placement.resolver().path_arrays();
  sharded.unmatched = placement.resolver().unmatched();
  sharded.constraints = placement.given.constraints;
  for (Sharding& constraint : sharded.constraints) constraint = closed(std::move(constraint));
  Propagation done = propagate(std::move(graph), mesh, placement.given);
  sharded.graph = std::move(done.graph);
  for (std::size_t value = placement.reasons.size(); value < done.reasons.size(); ++value) {
    placement.reasons.emplace_back(done.reasons[value].size());
  }
  explain_constrained_operands(sharded, done, placement.reasons);
  join_reasons(sharded, std::move(placement.reasons), done);

  for (const GraphInput& input : sharded.graph.inputs) {
    Sharding& sharding = done.shardings[index_of(input.value)];
    sharding = at_boundary(mesh, std::move(sharding), sharded.graph.value(input.value).type.shape);
  }
  sharded.shardings = std::move(done.shardings);
  for (std::size_t value = 0; value < sharded.shardings.size(); ++value) {
    const Shape& shape = sharded.graph.values[value].type.shape;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      make_even(sharded.shardings[value].dims[dim], shape[dim], sharded.reasons[value][dim]);
    }
  }
  for (std::size_t i = 0; i < done.results.size(); ++i) {
    const Shape& shape = sharded.graph.value(sharded.graph.outputs[i].value).type.shape;
    sharded.output_shardings.push_back(at_boundary(mesh, std::move(done.results[i]), shape));
  }
  sharded.conflicts = std::move(done.conflicts);
  return sharded;
}

std::string to_string(const ShardedGraph& sharded) {
  std::vector<std::string> annotations;
  annotations.reserve(sharded.shardings.size());
  for (const Sharding& sharding : sharded.shardings) {
    annotations.push_back("@ " + spec_text(sharded.mesh, sharding));
  }
  std::string text = "mesh " + to_string(sharded.mesh) + "\n";
  text += to_string(sharded.graph, annotations);
  for (std::size_t i = 0; i < sharded.output_shardings.size(); ++i) {
    const GraphOutput& output = sharded.graph.outputs[i];
    if (is_equivalent(sharded.mesh, sharded.output_shardings[i], sharded.sharding(output.value))) {
      continue;
    }
    text += "output " + output.path + " is handed over as " +
            spec_text(sharded.mesh, sharded.output_shardings[i]) + "\n";
  }
  return text;
}

}  // namespace shard
