#include "report/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "check/reshards.h"
#include "model/range_names.h"
#include "report/fold.h"
#include "report/words.h"

namespace shard {
namespace {

ArrayRow array_row(const PlannedFunction& function, std::string name, ValueId value,
                   const Sharding& sharding) {
  const ShardedGraph& sharded = function.sharded;
  const GraphValue& of = sharded.graph.value(value);
  ArrayRow row;
  row.name = std::move(name);
  row.instances = count_names(row.name);
  row.type = sharded.given_type(value);
  row.sharding = sharding;
  row.spec = spec_text(sharded.mesh, sharding);
  row.local = local_shape(of.type.shape, sharding);
  row.bytes = bytes_of({of.type.dtype, row.local});
  row.copies = copy_count(sharded.mesh, sharding);
  row.why = of.type.shape.empty() ? Clauses{{"scalar", "", ""}} : why(sharded, value);
  row.at = of.at;
  return row;
}

/// Everything that follows its parameter and ended up split like it refers to the parameter's row.
void link_followers(const Plan& plan, const std::vector<int>& row_of_leaf,
                    std::vector<ArrayRow>& rows) {
  for (std::size_t leaf = 0; leaf < row_of_leaf.size(); ++leaf) {
    const int followed = plan.model.state[leaf].follows;
    if (row_of_leaf[leaf] < 0 || followed < 0) continue;
    const int target = row_of_leaf[static_cast<std::size_t>(followed)];
    ArrayRow& row = rows[static_cast<std::size_t>(row_of_leaf[leaf])];
    const ArrayRow& parameter = rows[static_cast<std::size_t>(target)];
    if (row.spec != parameter.spec || row.type.shape != parameter.type.shape) continue;
    row.follows = target;
    row.why = {{"follows params", "", ""}};
  }
}

/// Somebody wrote how this dim is split, or that it is not: then it has lost nothing.
bool is_written(const ShardedGraph& sharded, ValueId value, int dim) {
  constexpr std::array<ReasonKind, 7> written = {ReasonKind::rule,       ReasonKind::no_rule,
                                                 ReasonKind::rule_none,  ReasonKind::explicit_spec,
                                                 ReasonKind::constraint, ReasonKind::output,
                                                 ReasonKind::unannotated};
  const std::vector<Reason>& reasons =
      sharded.reasons[index_of(value)][static_cast<std::size_t>(dim)];
  return std::any_of(reasons.begin(), reasons.end(), [&](const Reason& reason) {
    return std::find(written.begin(), written.end(), reason.kind) != written.end();
  });
}

/// Adds to the values' reasons what propagation kept away from them: per dim and axes what was
/// there first.
void add_lost(const ShardedGraph& sharded, const std::map<ValueId, std::size_t>& row_of,
              std::vector<ArrayRow>& rows) {
  std::set<std::tuple<ValueId, int, std::string>> known;
  for (const Conflict& one : sharded.conflicts) {
    const auto row = row_of.find(one.loser);
    if (row == row_of.end() || is_written(sharded, one.loser, one.dim)) continue;
    if (!known.emplace(one.loser, one.dim, axes_text(sharded.mesh, one.axes)).second) continue;
    rows[row->second].why.push_back(lost_clause(sharded, one));
  }
}

bool is_shown(const Graph& graph, const GraphValue& value, const std::set<std::string>& shown) {
  if (value.name.empty() || value.producer == NodeId::none) return false;
  const Node& producer = graph.node(value.producer);
  return producer.phase == Phase::forward && !shown.contains(value.name);
}

/// The values of a region and of the loops in it, in order of execution.
void add_named_values(const PlannedFunction& function, const Region& region,
                      std::set<std::string>& shown, std::map<ValueId, std::size_t>& row_of,
                      std::vector<ArrayRow>& rows) {
  const Graph& graph = function.sharded.graph;
  for (const NodeId id : region.nodes) {
    const Node& node = graph.node(id);
    if (node.region != RegionId::none) {
      add_named_values(function, graph.region(node.region), shown, row_of, rows);
      continue;
    }
    for (const ValueId result : node.results) {
      const GraphValue& value = graph.value(result);
      if (!is_shown(graph, value, shown)) continue;
      shown.insert(value.name);
      row_of.emplace(result, rows.size());
      rows.push_back(array_row(function, value.name, result, function.sharded.sharding(result)));
      rows.back().role = Role::output;
    }
  }
}

std::string layer_of(const Graph& graph, NodeId node) {
  return node == NodeId::none ? "" : graph.node(node).name;
}

/// `0 to 1, 1 to 2`: of many the first ones.
std::string sent_text(const std::vector<int>& senders) {
  constexpr std::size_t shown = 4;
  const auto count = static_cast<int>(senders.size());
  std::vector<std::string> ways;
  for (int from = 0; from < count; ++from) {
    const auto to = std::find(senders.begin(), senders.end(), from);
    if (to == senders.end()) continue;
    ways.push_back(std::to_string(from) + " to " + std::to_string(to - senders.begin()));
  }
  if (ways.empty()) return "zeros to all";
  if (ways.size() > shown) {
    const std::size_t more = ways.size() - (shown - 1);
    ways.resize(shown - 1);
    ways.push_back("and " + std::to_string(more) + " more");
  }
  return joined(ways, ", ");
}

/// The words before and after the layer's name, by what made the collective necessary.
Clauses collective_why(const PlannedFunction& function, const Instruction& instruction) {
  const Graph& graph = function.sharded.graph;
  const CollectiveReason& reason = instruction.collective->why;
  const std::string layer = layer_of(graph, reason.node);
  const std::string axes = axes_text(function.program.mesh, instruction.collective->axes);
  if (reason.kind == CollectiveReason::Kind::partial_sum) {
    const bool is_gradient =
        std::any_of(instruction.results.begin(), instruction.results.end(), [&](BufferId result) {
          return function.program.buffer(result).category == Category::gradient;
        });
    const std::string lead = reason.phase == Phase::forward ? "forward: "
                             : is_gradient                  ? "gradient of "
                                                            : "backward: gradient into ";
    return {{lead, layer, " sums over " + reason.label + ", split over " + axes}};
  }
  if (reason.kind == CollectiveReason::Kind::neighbours) {
    return {{std::string(name_of(reason.phase)) + ": ", layer,
             " computes in parts split over " + axes + ", which need elements of each other"}};
  }
  if (reason.kind == CollectiveReason::Kind::asked) {
    const std::string what =
        may_send_less(instruction.collective->kind)
            ? " sends rows along " + axes + " as the data say"
            : " sends along " + axes + ": " + sent_text(instruction.collective->senders);
    return {{std::string(name_of(reason.phase)) + ": ", layer, what}};
  }
  const std::array<std::string_view, 6> wanted = {"",           "operand",    "result",
                                                  "constraint", "loop carry", "output"};
  return {{std::string(name_of(reason.phase)) + ": ", layer,
           " " + std::string(wanted[static_cast<std::size_t>(reason.kind)]) + " from " +
               reason.from_spec + " to " + reason.to_spec}};
}

CollectiveRow collective_row(const PlannedFunction& function, const Instruction& instruction,
                             std::int64_t times) {
  const Collective& collective = *instruction.collective;
  CollectiveRow row;
  row.kind = collective.kind;
  row.axes = axes_text(function.program.mesh, collective.axes);
  row.group = product(collective.axes);
  row.instances = instruction.iteration.count();
  row.loop_times = times;
  row.count = row.instances * times;
  row.payload = collective.payload;
  row.wire_each = collective.wire;
  row.wire = row.count * collective.wire;
  row.phase = instruction.phase;
  row.why = collective_why(function, instruction);
  row.mesh_axes = collective.axes;
  row.type = function.program.buffer(instruction.operands.front()).type;
  row.reason = collective.why;
  row.is_implicit =
      is_implicit(function.sharded, collective.why,
                  function.program.buffer(instruction.results.front()).value, collective.axes);
  if (collective.why.node != NodeId::none) {
    row.at = function.sharded.graph.node(collective.why.node).at;
  }
  return row;
}

void add_collectives(const PlannedFunction& function, int body, std::int64_t times,
                     std::vector<CollectiveRow>& rows) {
  const Program& program = function.program;
  for (const Instruction& one : program.bodies[static_cast<std::size_t>(body)].instructions) {
    if (one.kind == Instruction::Kind::loop) {
      add_collectives(function, one.body, times * one.attributes.integer("times"), rows);
    } else if (one.kind == Instruction::Kind::collective &&
               one.collective->kind != CollectiveKind::all_slice) {
      rows.push_back(collective_row(function, one, times));
      rows.back().instruction = &one;
    }
  }
}

/// What must be equal for collectives to stand in one line.
std::string key_of(const CollectiveRow& row) {
  return std::string(name_of(row.kind)) + '\n' + row.axes + '\n' + std::to_string(row.loop_times) +
         '\n' + std::to_string(row.payload.count()) + '\n' + fold_key(row.why);
}

}  // namespace

bool may_send_less(CollectiveKind kind) { return kind == CollectiveKind::ragged_all_to_all; }

std::vector<ArrayRow> state_rows(const Plan& plan) {
  const PlannedFunction& function = plan.main();
  std::vector<ArrayRow> rows;
  std::vector<int> row_of_leaf(plan.model.state.size(), -1);
  for (const GraphInput& input : function.sharded.graph.inputs) {
    if (input.state_leaf < 0) continue;
    row_of_leaf[static_cast<std::size_t>(input.state_leaf)] = static_cast<int>(rows.size());
    rows.push_back(
        array_row(function, input.path, input.value, function.sharded.sharding(input.value)));
    rows.back().role = input.role;
    rows.back().at = plan.model.state[static_cast<std::size_t>(input.state_leaf)].at;
  }
  link_followers(plan, row_of_leaf, rows);
  return rows;
}

std::string optimizer_tree(const ArrayRow& slot, const ArrayRow& parameter) {
  // A slot's path ends like its parameter's, all of it or without the root (`params`, `model`).
  std::string tail = '/' + parameter.name;
  if (!slot.name.ends_with(tail)) {
    const std::size_t root = parameter.name.find('/');
    if (root == std::string::npos) return "";
    tail = parameter.name.substr(root);
  }
  if (!slot.name.ends_with(tail)) return "";
  return slot.name.substr(0, slot.name.size() - tail.size());
}

std::vector<ArrayRow> value_rows(const PlannedFunction& function) {
  const Graph& graph = function.sharded.graph;
  std::vector<ArrayRow> rows;
  std::set<std::string> shown;
  std::map<ValueId, std::size_t> row_of;
  for (const GraphInput& input : graph.inputs) {
    if (input.state_leaf >= 0) continue;
    row_of.emplace(input.value, rows.size());
    rows.push_back(
        array_row(function, input.path, input.value, function.sharded.sharding(input.value)));
    if (!rows.back().why.empty()) rows.back().why.front().lead.insert(0, "input, ");
    shown.insert(input.path);
  }
  add_named_values(function, graph.body(), shown, row_of, rows);
  add_lost(function.sharded, row_of, rows);
  return rows;
}

std::vector<ArrayRow> output_rows(const PlannedFunction& function) {
  const Graph& graph = function.sharded.graph;
  std::vector<ArrayRow> rows;
  for (std::size_t position = 0; position < graph.outputs.size(); ++position) {
    const GraphOutput& output = graph.outputs[position];
    if (output.state_leaf >= 0) continue;
    rows.push_back(array_row(function, output.path, output.value,
                             function.sharded.output_shardings[position]));
    rows.back().role = output.role;
    rows.back().is_result = true;
    const bool is_placed = output.placement && output.placement->at.is_known();
    if (is_placed) rows.back().why = {{"output, " + short_place(output.placement->at), "", ""}};
  }
  return rows;
}

std::vector<CollectiveRow> collective_rows(const PlannedFunction& function) {
  std::vector<CollectiveRow> found;
  add_collectives(function, 0, 1, found);
  std::vector<CollectiveRow> ordered;
  std::int64_t number = 1;
  for (const auto& group : collective_groups(found)) {
    for (const std::size_t position : group) {
      ordered.push_back(found[position]);
      ordered.back().number = number;
      number += ordered.back().instances;
    }
  }
  return ordered;
}

std::vector<std::vector<std::size_t>> collective_groups(const std::vector<CollectiveRow>& rows) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> group_of;
  for (std::size_t position = 0; position < rows.size(); ++position) {
    const auto [place, is_new] = group_of.try_emplace(key_of(rows[position]), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(position);
  }
  return groups;
}

std::vector<AxisWire> wire_per_axis(const PlannedFunction& function) {
  std::map<std::vector<int>, AxisWire> by_axes;
  for (const CollectiveCount& count : function.collectives) {
    std::vector<int> mesh_axes;
    for (const AxisRef& ref : count.axes) mesh_axes.push_back(ref.axis);
    std::sort(mesh_axes.begin(), mesh_axes.end());
    if (count.wire == Bytes(0)) continue;
    AxisWire& wire = by_axes[mesh_axes];
    wire.wire += count.wire;
    wire.is_bound = wire.is_bound || may_send_less(count.kind);
    wire.mesh_axes = mesh_axes;
  }
  std::vector<AxisWire> all;
  for (auto& [mesh_axes, wire] : by_axes) {
    for (const int axis : mesh_axes) {
      const auto& info = function.program.mesh.axes()[static_cast<std::size_t>(axis)];
      wire.axes += (wire.axes.empty() ? "" : ",") + info.name.text();
    }
    all.push_back(std::move(wire));
  }
  return all;
}

std::vector<LiveRow> live_rows(const Program& program) {
  const MemoryPlan& memory = program.memory;
  std::vector<LiveRow> rows;
  for (std::size_t i = 0; i < memory.live_at_peak.size(); ++i) {
    const Buffer& buffer = program.buffer(memory.live_at_peak[i]);
    LiveRow row;
    row.name = buffer.name.empty() ? std::string(name_of(buffer.category)) : buffer.name;
    row.category = buffer.category;
    row.bytes = bytes_of(buffer.type);
    if (i < memory.live_instances.size()) {
      row.instances = memory.live_instances[i].count;
      row.name = narrowed(row.name, memory.live_instances[i].first, row.instances);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string_view name_of(CollectiveKind kind) {
  constexpr std::array<std::string_view, 8> names = {
      "all_reduce",         "all_gather",           "reduce_scatter",    "all_to_all",
      "collective_permute", "collective_broadcast", "ragged_all_to_all", "all_slice"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, 3> names = {"forward", "backward", "update"};
  return names[static_cast<std::size_t>(phase)];
}

std::string_view name_of(Category category) {
  constexpr std::array<std::string_view, 7> names = {
      "inputs",      "parameters",         "optimizer", "gradients",
      "activations", "collective buffers", "outputs"};
  return names[static_cast<std::size_t>(category)];
}

std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, 8> names = {
      "input", "parameter", "optimizer", "step", "loss", "gradient", "output", "activation"};
  return names[static_cast<std::size_t>(role)];
}

std::string axes_text(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  std::string text;
  for (const AxisRef& axis : axes) text += (text.empty() ? "" : ",") + to_string(mesh, axis);
  return text;
}

}  // namespace shard
